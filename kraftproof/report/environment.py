"""The template environment of all pages: escapes values, and raises for undefined names."""

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(name: str) -> Template:
    """Return a template of the folder templates/."""
    environment = Environment(
        loader=PackageLoader("kraftproof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
