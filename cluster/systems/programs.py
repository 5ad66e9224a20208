"""Programs of systems under test: Debian packages, Dockerfiles, and programs from Go modules.

Each serves as `Deployment.image`; a Go program also serves as `Deployment.programs`, for nodes that
are processes of this machine.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.images.folders import cache_base, owned_folder

BUILD_SECONDS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class DebianPackages:
    """An image with packages of Debian trixie on Kraftproof's base image."""

    packages: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a text, whose letters would be taken for names of packages.

        Raises:
            ValueError: the packages are no tuple of texts; one line.
        """
        given: object = self.packages
        if not isinstance(given, tuple | list) or not all(isinstance(one, str) for one in given):
            raise ValueError(f"packages {given!r}: a tuple of texts is expected")

    def __call__(self, client: Any, progress: Callable[[str], None]) -> str:  # noqa: ANN401
        """Return the tag of the image, built if missing."""
        from kraftproof.images.systems import packages_image

        return packages_image(client, self.packages, progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dockerfile:
    """An image that a Dockerfile of yours builds; the folder of the file is the context."""

    path: str

    def __call__(self, client: Any, progress: Callable[[str], None]) -> str:  # noqa: ANN401
        """Return the tag of the image, built if a file of the folder has changed."""
        from kraftproof.images.systems import dockerfile_image

        return dockerfile_image(client, Path(self.path), progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoProgram:
    """A program that Go builds from a release of a module, kept in the user's cache.

    Attributes:
        name: The name of the program.
        module: The path of the module.
        version: The release of the module, such as v3.6.12.
        main: The text of main.go.
    """

    name: str
    module: str
    version: str
    main: str

    def __call__(self, client: Any, progress: Callable[[str], None]) -> str:  # noqa: ANN401
        """Return the tag of an image with the program, built if missing."""
        from kraftproof.images.systems import program_image

        return program_image(client, self.directory(progress) / self.name, progress)

    def directory(self, progress: Callable[[str], None]) -> Path:
        """Return the directory that holds the program alone, built if missing.

        Raises:
            ClusterError: Go is missing, or can't build the release; one line.
        """
        folder = cache_base() / "go" / f"{self.name}-{self.version}"
        if (folder / self.name).is_file():
            return folder
        if shutil.which("go") is None:
            raise ClusterError(f"{self.name} {self.version}: needs go on PATH to build it")
        progress(f"building {self.name} {self.version} with Go (about a minute, once)")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with owned_folder("build", folder.parent) as temporary:
            self._build(Path(temporary))
            folder.mkdir(exist_ok=True)
            (Path(temporary) / self.name).replace(folder / self.name)
        return folder

    def _build(self, source: Path) -> None:
        (source / "main.go").write_text(self.main, encoding="utf-8")
        self._go(source, "mod", "init", "kraftproof.example/program")
        self._go(source, "get", f"{self.module}@{self.version}")
        self._go(source, "build", "-o", self.name, ".")

    def _go(self, source: Path, *arguments: str) -> None:
        try:
            done = _run(("go", *arguments), source)
        except subprocess.TimeoutExpired as error:
            answered = f"'go {arguments[0]}' took more than {BUILD_SECONDS} s"
            raise ClusterError(f"{self.name} {self.version}: {answered}") from error
        if done.returncode:
            answered = " ".join(done.stderr.split("\n")[-2:]).strip() or "no reason given"
            raise ClusterError(
                f"{self.name} {self.version}: 'go {arguments[0]}' failed: {answered}"
            )


def _run(command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILD_SECONDS,
    )
