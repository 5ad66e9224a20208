"""How every page is rendered: escaped, and with an error for a name that a template lacks."""

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(name: str) -> Template:
    """Return one of the templates beside this file."""
    environment = Environment(
        loader=PackageLoader("kraftproof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
