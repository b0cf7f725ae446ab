"""The fonts of the browsers: two from the development requirements, whatever the machine has."""

import os
from importlib.resources import files
from pathlib import Path
from typing import Literal

import pytest

Font = Literal["narrow", "wide"]

FAMILIES: dict[Font, tuple[str, str]] = {
    "narrow": ("font_source_sans_pro", "Source Sans Pro"),
    "wide": ("font_manrope", "Manrope"),
}
"""The package that ships each font, and the name of its family."""

CONFIGURATION = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{fonts}</dir>
  <cachedir>{cache}</cachedir>
  <match target="pattern">
    <edit name="family" mode="assign" binding="strong"><string>{family}</string></edit>
  </match>
</fontconfig>
"""


def environment(font: Font, folder: Path) -> dict[str, str]:
    """The environment of a browser that has only this font, configured in `folder`."""
    package, family = FAMILIES[font]
    configuration = folder / f"{font}.conf"
    fonts = files(package) / "files"
    configuration.write_text(CONFIGURATION.format(fonts=fonts, cache=folder, family=family))
    return {**os.environ, "FONTCONFIG_FILE": str(configuration)}


BOTH_FONTS = pytest.mark.parametrize(
    "font", ["wide", pytest.param("narrow", marks=pytest.mark.long)]
)
"""For a test whose layout depends on the font: with the wide one, which needs more room, and, among
the long tests, with the narrow one."""
