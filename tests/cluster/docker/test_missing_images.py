"""An image that the engine can't have is named in one line."""

import pytest

from kraftproof.cluster.docker.engine import connect_engine
from kraftproof.cluster.docker.machines import Machines
from kraftproof.cluster.protocol import ClusterError

pytestmark = pytest.mark.docker


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("127.0.0.1:1/team/db:9", "docker: image 127.0.0.1:1/team/db:9 can't be pulled: "),
        ("Upper Case", "docker: image Upper Case: "),
    ],
)
def test_an_image_that_cannot_be_pulled_is_named(image: str, said: str) -> None:
    machines = Machines("no-run", (1,))
    machines._client = connect_engine()
    with pytest.raises(ClusterError) as failed:
        machines.image(image, lambda _: None)
    machines._client.close()
    assert str(failed.value).startswith(said)
    assert "\n" not in str(failed.value)
