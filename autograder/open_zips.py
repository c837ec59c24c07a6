"""Zips and the zips inside them, opened when something in them is read; a few stay open."""

from __future__ import annotations

import io
import zipfile
from collections import OrderedDict
from typing import BinaryIO

from autograder.limits import LIMITS
from autograder.listed_files import ListedFile

OPEN_AT_ONCE = 4  # a class has more zips than a process may have open files


class _Zip(zipfile.ZipFile):
    """A zip that closes its file with itself, as `zipfile` only does where it was given a path."""

    def __init__(self, file: BinaryIO) -> None:
        self._its_file = file
        super().__init__(file)

    def close(self) -> None:
        super().close()
        self._its_file.close()


class OpenZips:
    """The zips that were read last, of all in a listing, and the zips inside them: a few stay open."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[ListedFile, tuple[int, ...]], _Zip] = OrderedDict()

    def get(self, file: ListedFile, numbers: tuple[int, ...]) -> zipfile.ZipFile:
        """The zip that is entry `numbers[-1]` of the zip that is …; () is the file itself."""
        key = file, numbers
        if key not in self._open:
            self._open[key] = self._read(file, numbers)
        self._open.move_to_end(key)
        while len(self._open) > OPEN_AT_ONCE:
            self._open.popitem(last=False)  # it closes when nobody reads in it any more
        return self._open[key]

    def entry(self, file: ListedFile, numbers: tuple[int, ...]) -> BinaryIO:
        outer = self.get(file, numbers[:-1])
        return outer.open(outer.infolist()[numbers[-1]])

    def _read(self, file: ListedFile, numbers: tuple[int, ...]) -> _Zip:
        if not numbers:
            return _Zip(file.open())
        with self.entry(file, numbers) as inner:
            return _Zip(io.BytesIO(inner.read(LIMITS.inner_zip_bytes)))  # a larger one is cut, and so is no zip
