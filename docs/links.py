"""Look whether links between built pages lead to pages and places that are there.

python docs/links.py build/docs
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places that links may lead to."""

    def __init__(self, file):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.places |= {
            found[name] for name in ("id", "name") if found.get(name)
        }
        self.links += [
            found[name] for name in ("href", "src") if found.get(name)
        ]


def broken(folder):
    """Yield links of pages that lead nowhere; those to other sites are not looked at, nor those of pages
    that Sphinx makes of the code.
    """
    made = {"_static", "_modules"}
    files = [
        file
        for file in sorted(folder.rglob("*.html"))
        if not made & {*file.parts}
    ]
    pages = {file.resolve(): Page(file) for file in files}
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (
                (file.parent / unquote(parts.path)).resolve()
                if parts.path
                else file
            )
            if not there.exists():
                yield f"{file.relative_to(folder.resolve())}: there is no {link}"
            elif (
                there in pages
                and unquote(parts.fragment) not in pages[there].places
            ):
                yield f"{file.relative_to(folder.resolve())}: {link} leads to no place of the page"


if __name__ == "__main__":
    found = list(broken(Path(sys.argv[1])))
    print(*found, sep="\n", end="\n" * bool(found), file=sys.stderr)
    sys.exit(bool(found))
