"""A figure of matplotlib as a small piece of SVG that a page can color.

Texts stay texts. Every color of the theme becomes a variable of the style sheet, with the color on
paper behind it for programs that know no variables. The same figure gives the same text.
"""

import io
import re
import warnings
from xml.etree import ElementTree

from kernelknife._utils.messages import import_optional
from kernelknife.inspection.displays.style import LOOK, THEME, printable

__all__ = ["save_figure", "to_svg"]

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
VARIABLES = {color: f"var(--{name},{color})" for name, color in THEME.items()}
NO_DATE = {"Date": None, "Creator": None, "Format": None, "Type": None}
DROPPED = re.compile(
    r"\s*(font-family:[^;]*|stroke-linejoin:\s*miter|stroke-linecap:\s*butt|stroke-width:\s*1);?"
)


def to_svg(figure, salt="kk", title="", *, theme=True):
    """Return a figure as an ``svg`` element, well-formed XML with a title for those who cannot see.

    The ``salt`` begins every identifier, which must differ between figures of one page. Without a
    ``theme`` the colors are those on paper, otherwise variables of a style sheet.
    """
    ElementTree.register_namespace("", SVG[1:-1])
    text = io.StringIO()
    _save(figure, text, salt, format="svg", metadata=NO_DATE)
    root = ElementTree.fromstring(text.getvalue())
    _strip(root, salt, theme)
    root.attrib = {
        "viewBox": root.get("viewBox", ""),
        "role": "img",
        "aria-label": printable(title),
        "font-family": "system-ui, sans-serif",
    }
    return ElementTree.tostring(root, encoding="unicode")


def save_figure(figure, path, format=None):
    """Write a figure to a file whose ending, or ``format``, is PDF, PNG or SVG with real texts."""
    _save(figure, path, "kk", format=format, dpi=200, facecolor="white")


def _save(figure, file, salt, **options):
    """Save with texts as texts and the same identifiers every time."""
    mpl = import_optional("matplotlib", "kernelknife[plot]", "Drawing")
    look = {**LOOK, "svg.fonttype": "none", "svg.hashsalt": salt, "pdf.fonttype": 42}
    with mpl.rc_context(look), warnings.catch_warnings():
        # Who shows the file has the letters that the font which measures lacks.
        warnings.filterwarnings("ignore", "Glyph|Matplotlib currently")
        figure.savefig(file, **options)


def _strip(root, salt, theme):
    """Shorten everything: identifiers that nothing refers to, decimals, fonts, empty groups."""
    used = {use.get(f"{XLINK}href")[1:] for use in root.iter(f"{SVG}use")}
    used |= {one for item in root.iter() for one in re.findall(r"url\(#(.*?)\)", str(item.attrib))}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):
                parent.remove(child)
        parent.text, parent.tail = (parent.text or "").strip() or None, None
    for item in root.iter():
        name = item.attrib.pop("id", "")
        if name in used:
            item.set("id", f"{salt}-{name}")
        elif name.startswith("tip:"):
            note = ElementTree.Element(f"{SVG}title")
            note.text = name[4:]
            item.insert(0, note)
        elif name.startswith("kk-"):
            item.set("data-kk", name[3:])
        for key, value in list(item.attrib.items()):
            if key == f"{XLINK}href":
                item.attrib.pop(key)
                item.set("href", f"#{salt}-{value[1:]}")
            else:
                item.set(key, _short(key, value, salt, theme))
    _hoist(root)


def _short(key, value, salt, theme):
    """Return the value of an attribute in fewer letters."""
    if key in ("d", "x", "y", "width", "height", "transform"):
        value = re.sub(
            r"-?\d+\.\d+(e-\d+)?", lambda m: f"{float(m[0]):.1f}".rstrip("0")[:12], value
        )
        value = value.replace(". ", " ").replace(".\n", " ").rstrip(".")
        value = re.sub(r"\s*([MLCQzZ])\s*", r"\1", value)
        return re.sub(r"\.(?=[ ,)MLCQz]|$)", "", value)
    if key == "clip-path":
        return value.replace("url(#", f"url(#{salt}-")
    if key == "style":
        value = DROPPED.sub("", value).strip("; ")
        value = re.sub(r"(\d\.\d{2})\d+", r"\1", value).replace(": ", ":").replace("; ", ";")
        if theme:
            return re.sub(r"#[0-9a-f]{6}\b", lambda m: VARIABLES.get(m[0], m[0]), value)
    return value


def _hoist(root):
    """Write the style that all dots of a group have once, and drop transforms that do nothing."""
    for group in root.iter(f"{SVG}g"):
        uses = group.findall(f"{SVG}use")
        styles = {use.get("style") for use in uses}
        if len(uses) > 1 and len(styles) == 1 and len(uses) == len(group):
            group.set("style", styles.pop())
            for use in uses:
                del use.attrib["style"]
    for item in root.iter():
        if item.get("transform", "").startswith("rotate(-0"):
            del item.attrib["transform"]
        if not item.get("style", "x"):
            del item.attrib["style"]
