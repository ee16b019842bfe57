"""Documents of headings, tables and pictures."""

from document import Heading, Picture, Table, Text, to_html, to_markdown


def test_documents_escape_what_they_show():
    blocks = [
        Heading("a < b", 1),
        Text("<script>alert(1)</script>"),
        Table(("x|y",), (("<b>",),)),
        Picture("a.png", 'say "hi"'),
    ]
    html = to_html(blocks, "<title>")
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&quot;hi&quot;" in html
    assert "x\\|y" in to_markdown(blocks)
