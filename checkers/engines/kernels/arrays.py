"""Types of numbers and arrays that kernels of several engines take."""

from typing import Any

import numpy as np

Integer = int | np.signedinteger[Any]
