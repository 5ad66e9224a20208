"""Build the Spark image in two steps, each named after its content: stable layers, then kraftproof.

The wheels are those of requirements.lock for the base's Python. pyspark is published as a source
archive only; uv builds pyspark once on the host, and hard-links the files.
"""

import shutil
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import docker

from kraftproof.images.base import base_tag, ensure_base
from kraftproof.images.context import build, connect, exists, fingerprint
from kraftproof.images.folders import owned_folder
from kraftproof.images.sources import IMAGES, PACKAGE, copy_files, source_files
from kraftproof.images.wheels import download, requirements

LAYERS: Final = "kraftproof/spark-layers"
REPOSITORY: Final = "kraftproof/spark"
SPARK_CLASS: Final = "/opt/kraftproof/wheels/pyspark/bin/spark-class"
OURS: Final = ("checkers", "cluster", "commands", "nemesis", "report", "run", "workloads")
"""The sub-packages that `kraftproof check` imports."""
FROM_SOURCE: Final = ("pyspark",)
PACKAGES: Final = (
    # pyspark and the checkers
    *("llvmlite", "msgspec", "numba", "numpy", "pandas", "py4j", "pyarrow", "pyspark"),
    *("python-dateutil", "pytz", "tzdata"),
    # the command line and the page
    *("annotated-doc", "annotated-types", "jinja2", "markdown-it-py", "markupsafe", "mdurl"),
    *("pydantic", "pydantic-core", "pygments", "rich", "shellingham", "typer"),
    *("typing-extensions", "typing-inspection"),
)


def ensure_spark_image(
    client: docker.DockerClient | None = None, progress: Callable[[str], None] = print
) -> str:
    """Return the tag of the image, built if the sources or the lock have changed.

    Args:
        client: An engine's client; by default the environment's engine.
        progress: Called with a line for each long step.

    Raises:
        ImageError: the build failed; the text is one line.
    """
    engine = connect(client)
    layers = _ensure_layers(engine, progress)
    with owned_folder("spark") as folder:
        context = Path(folder)
        shutil.copy2(IMAGES / "spark" / "Dockerfile", context)
        copy_files([*PACKAGE.glob("*.py"), *source_files(*OURS)], context / "source")
        _copy_entry_points(context / "source")
        tag = f"{REPOSITORY}:{fingerprint(context, _files(context), layers)}"
        if not exists(engine, tag):
            progress(f"image {tag}: building")
            build(engine, context, tag, {"LAYERS": layers})
    return tag


def _ensure_layers(engine: docker.DockerClient, progress: Callable[[str], None]) -> str:
    recipe = IMAGES / "spark" / "layers"
    name = fingerprint(recipe, _files(recipe), base_tag(), requirements(PACKAGES))
    tag = f"{LAYERS}:{name}"
    if exists(engine, tag):
        return tag
    base = ensure_base(engine, progress)
    progress(f"image {tag}: building (Java and Spark: a minute or two)")
    with owned_folder("spark") as folder:
        context = Path(folder)
        shutil.copytree(recipe, context, dirs_exist_ok=True)
        architecture = str(engine.info()["Architecture"])
        download(context / "wheels", architecture, PACKAGES, from_source=FROM_SOURCE)
        build(engine, context, tag, {"BASE": base})
    return tag


def _copy_entry_points(source: Path) -> None:
    """Register the models' entry points in the image's Python, like an installation."""
    installed = distribution("kraftproof")
    folder = source / f"kraftproof-{installed.version}.dist-info"
    folder.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: kraftproof\nVersion: {installed.version}\n"
    (folder / "METADATA").write_text(metadata, encoding="utf-8")
    entry_points = installed.read_text("entry_points.txt") or ""
    (folder / "entry_points.txt").write_text(entry_points, encoding="utf-8")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
