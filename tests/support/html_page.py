"""HTML read as a browser does, as far as tests ask for it."""

from html.parser import HTMLParser

VOID = {"meta", "br"}
LOADING = {"script", "link", "img", "iframe", "object", "style"}


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def assert_safe_in_a_notebook(text):
    """Nothing is run or loaded, and no color of text is set: notebooks are light or dark."""
    page = Page(text)
    assert not LOADING & set(page.tags)
    assert not any(name.startswith("on") or name in ("src", "href") for name, _ in page.attributes)
    styles = [value for name, value in page.attributes if name == "style"]
    assert not any("url(" in style for style in styles)
    declared = {part.split(":")[0].strip() for style in styles for part in style.split(";")}
    assert "color" not in declared
    return page
