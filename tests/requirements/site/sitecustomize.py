"""Python imports this module in each process that a test starts; it installs the edit there, too.

`broken.py` names the folder in PYTHONPATH, and the edit in the environment.
"""

import json
import os

from kraftproof.mutants.hook import install_edits
from kraftproof.mutants.mutant import Edit, Mutant

edit = Edit(**json.loads(os.environ["KRAFTPROOF_EDIT"]))
install_edits(Mutant(mutant_id="broken", title="broken", source="", edits=(edit,)))
