"""QR codes: readable by cameras in both themes, and named for those who do not see them."""

import re
from html import unescape
from urllib.parse import unquote

from streamlit.testing.v1 import AppTest

LINK = "https://studio.example.org/learn?class=BCDFGHJK"


def drawn(link, caption="Scan to join"):
    def page(link, caption):
        from dashboard.widgets.qr_code import show_qr

        show_qr(link, caption=caption, width=200)

    app = AppTest.from_function(page, kwargs={"link": link, "caption": caption}).run()
    assert not app.exception
    (element,) = app.get("html")
    return element.proto.body


def picture(body):
    return unquote(unescape(re.search('src="([^"]*)"', body)[1]))


def test_a_qr_code_is_black_on_white_whatever_the_theme():
    svg = picture(drawn(LINK))
    assert re.search("stroke=.#000", svg)
    assert re.search("fill=.#fff", svg)


def test_every_link_has_a_code_of_its_own():
    assert picture(drawn(LINK)) != picture(drawn(LINK.replace("BCDF", "BCDG")))


def test_it_has_a_name_which_is_only_text():
    assert 'alt="&lt;b&gt; &amp; &quot;c&quot;"' in drawn(LINK, '<b> & "c"')


def test_nothing_of_the_link_is_written_into_the_picture():
    assert "alert" not in picture(drawn("https://x/?<script>alert(1)</script>"))
