from dashboard.widgets.qr_code import qr_svg

LINK = "https://studio.example.org/learn?class=BCDFGHJK"


def test_a_qr_code_is_black_on_white_whatever_the_theme():
    svg = qr_svg(LINK)

    assert svg.startswith("<svg")
    assert 'stroke="#000"' in svg
    assert 'fill="#fff"' in svg


def test_every_link_has_a_code_of_its_own():
    assert qr_svg(LINK) != qr_svg(LINK.replace("BCDF", "BCDG"))


def test_nothing_of_the_link_is_written_into_the_picture():
    assert "alert" not in qr_svg("https://x/?<script>alert(1)</script>")
