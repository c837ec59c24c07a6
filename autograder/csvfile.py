"""Tables that other programs wrote: read whatever encoding and delimiter they have, changed cell by cell.

Python's `csv` reads a table but cannot tell where in the file a cell stands, and writing a table anew
changes its quotes and line ends. A file that goes back to where it came from must keep every byte
but those of the cells that we fill.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.errors import UsageError
from autograder.words import say

DELIMITERS = ",;\t"
# cp949: what Excel writes for Hangul on a Korean Windows. cp1252: on a western one; it takes nearly every byte.
_GUESSES = ("utf-8", "cp949", "cp1252")
_NAMED = re.compile(r'"?sep=([,;|\t])"?(?:\r\n|\r|\n)', re.I)  # a first line that Excel reads, and others write for it
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class CsvCell:
    """A cell's value, and where in the text it stands, quotes included."""

    value: str
    start: int
    end: int


@dataclass(frozen=True)
class CsvFile:
    """A table's text with all that is needed to write it back as it came."""

    mark: bytes  # the byte-order mark; b"" where there is none
    encoding: str
    text: str
    delimiter: str
    start: int = 0  # where the table begins, behind a line that names its delimiter

    @cached_property
    def rows(self) -> list[list[CsvCell]]:
        """The cells of each line; empty lines are left out."""
        return _rows(self.text, self.delimiter, self.start)

    def filled(self, values: Mapping[CsvCell, str]) -> bytes:
        """The file with other values in some cells; every other byte as it was."""
        parts = []
        done = 0
        for cell in sorted(values, key=lambda cell: cell.start):
            parts += [self.text[done : cell.start], self._written(values[cell], quoted=self._is_quoted(cell))]
            done = cell.end
        return self.mark + "".join([*parts, self.text[done:]]).encode(self.encoding)

    def _is_quoted(self, cell: CsvCell) -> bool:
        return self.text[cell.start : cell.end].startswith('"')

    def _written(self, value: str, quoted: bool) -> str:
        if quoted or any(character in value for character in (self.delimiter, '"', "\r", "\n")):
            return '"' + value.replace('"', '""') + '"'
        return value


def read_csv(path: Path) -> CsvFile:
    """Read a table. Raises UsageError where there is none, or its encoding cannot be told."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(say("csv.no_file", path=path, reason=error.strerror or error)) from None
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
    for guess in (encoding,) if encoding else _GUESSES:
        try:
            text = data[len(mark) :].decode(guess)
        except UnicodeDecodeError:
            continue
        if "\0" not in text and text.encode(guess) == data[len(mark) :]:  # else it could not go back as it came
            if named := _NAMED.match(text):
                return CsvFile(mark, guess, text, named[1], named.end())
            return CsvFile(mark, guess, text, _delimiter(text))
    raise UsageError(say("csv.encoding", path=path))


def read_table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """A table's columns, and its rows by column; a short row has empty cells. Raises UsageError."""
    header, *rows = read_csv(path).rows or [[]]
    columns = [cell.value.strip() for cell in header]
    filled = ([cell.value for cell in row] + [""] * len(columns) for row in rows)
    return columns, [dict(zip(columns, row, strict=False)) for row in filled]


def _delimiter(text: str) -> str:
    """The one that stands most often in the first line."""
    first = text.lstrip("\r\n").partition("\n")[0]
    return max(DELIMITERS, key=first.count)


def _rows(text: str, delimiter: str, start: int) -> list[list[CsvCell]]:
    stop = re.escape(delimiter)
    # A quote that is never closed, or text behind a closing one, belongs to a bare cell: taken as it stands.
    pattern = re.compile(
        rf'(?:"(?P<quoted>(?:[^"]|"")*+)"(?=[{stop}\r\n]|\Z)|(?P<bare>[^{stop}\r\n]*+))(?P<end>{stop}|\r\n|\r|\n|\Z)'
    )
    rows: list[list[CsvCell]] = []
    row: list[CsvCell] = []
    for match in pattern.finditer(text, start):
        quoted = match["quoted"]
        value = match["bare"] if quoted is None else quoted.replace('""', '"')
        row.append(CsvCell(value, match.start(), match.start("end")))
        if match["end"] != delimiter:
            if len(row) > 1 or value:
                rows.append(row)
            row = []
    return rows
