"""CUDA C++ as nvcc takes it, rewritten in the spellings of `kernel.h`.

The host's preprocessor goes first, so that macros and headers are what they are in the program; then four things that no host
compiler takes are rewritten in place, line by line: `kernel<<<...>>>(...)`, `__shared__`, `__device__` and `__constant__` variables, and the
words that say where a function runs. Text of system headers is left as it is.
"""
from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["BEGIN", "translate"]

# The last line of cuda.h: what stands before it is the emulator's and NVIDIA's.
BEGIN = "cuda_emulator_translation_begins"

_TOKEN = re.compile(
    r"""(?P<space>\s+|\\\n)
    |(?P<marker>^\#[^\n]*)
    |(?P<string>(?:u8|u|U|L)?R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"|(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"|(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)+')
    |(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'?[A-Za-z0-9_.])*)
    |(?P<sign>::|->|<<<|.)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"((?:\s+\d)*)')
_RUNS_ON = {"__global__", "__host__", "__device__", "__grid_constant__"}  # said of functions and parameters: nothing to the host's compiler
_LIVES_IN = {"__device__", "__constant__", "__managed__", "__shared__"}
_UNSTARRED = re.compile(r"( \*)+$")  # a pointer belongs to the name, not to the specifiers
_PAIRS = {")": "(", "]": "[", "}": "{"}
# What the emulator does not do is refused where it stands, before a compiler says something about it that helps nobody.
_REFUSED = {
    **dict.fromkeys(
        ("texture", "tex1D", "tex2D", "tex3D", "tex1Dfetch", "tex2DLod", "tex2DLayered", "tex2Dgather", "cudaTextureObject_t",
         "cudaCreateTextureObject",
         "cudaBindTexture", "surface", "surf1Dread", "surf2Dread", "surf2Dwrite", "surf3Dread", "cudaSurfaceObject_t", "cudaCreateSurfaceObject"),
        "textures and surfaces are not emulated: read the array through a pointer",
    ),
    **dict.fromkeys(
        ("asm", "__asm__"),
        "inline PTX is not emulated: give the host compiler an #else (CUDA_EMULATOR is defined), or take cuda_emulator/mma.h",
    ),
    "wmma": "nvcuda::wmma is not emulated: wry_mma of cuda_emulator/mma.h is the instruction below it",
    **dict.fromkeys(("thrust", "cub"), "Thrust and CUB do not compile for the host: emulate the kernels of your own beside them"),
}


@dataclass
class _Token:
    kind: str
    text: str
    file: str = ""
    line: int = 0


def translate(text: str) -> str:
    """The text of a preprocessed file, rewritten; lines keep their numbers.

    Args:
        text: what `g++ -E` gives of a source that includes cuda_emulator/cuda.h first.

    Returns:
        Text for the host's compiler.

    Raises:
        ValueError: the source uses something that is not emulated, or does not end what it begins; file and line are named.
    """
    at = text.find(BEGIN)
    begin = text.find("\n", at) + 1 if at >= 0 else 0
    return text[:begin] + _Unit(text[begin:]).rewritten()


class _Unit:
    """Tokens of the user's files, rewritten one construct at a time."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        # Of those that mean something, by place in `tokens`.
        self.code = [i for i, token in enumerate(self.tokens) if token.kind not in ("space", "marker", "system")]

    def rewritten(self) -> str:
        i = 0
        while i < len(self.code):
            token = self.at(i)
            if token.kind == "word" and token.text in _REFUSED and not self._is_a_name(i):
                raise _error(token, f"`{token.text}`: {_REFUSED[token.text]}")
            if token.text == "<<<":
                i = self._launch(i)
            elif token.kind == "word" and token.text in _LIVES_IN and (span := self._variable(i)):
                i = (self._shared if token.text == "__shared__" else self._device)(i, *span)
            elif token.kind == "word" and token.text in _RUNS_ON:
                # Calls are inlined: the compiler looks at what an argument loads only where it stands in a statement of its own.
                token.text = "__attribute__((flatten))" if token.text == "__global__" else ""
                i += 1
            else:
                i += 1
        return "".join(token.text for token in self.tokens)

    def at(self, i: int) -> _Token:
        return self.tokens[self.code[i]] if 0 <= i < len(self.code) else _Token("end", "")

    def _is_a_name(self, i: int) -> bool:
        """Whether a word that is refused is somebody's own here: a member, or something that is declared or assigned."""
        before, after = self.at(i - 1).text, self.at(i + 1).text
        if self.at(i).text in ("thrust", "cub", "wmma"):
            return after != "::"
        return before in (".", "->") or after in ("=", ",", ")", ";", "[", "]")

    def _text(self, first: int, last: int) -> str:
        """Of the tokens from `first` up to `last`, spaces included."""
        return "".join(token.text for token in self.tokens[self.code[first] : self.code[last - 1] + 1]) if first < last else ""

    def _clear(self, first: int, last: int) -> None:
        """Take them away, except for the ends of lines and the markers."""
        for token in self.tokens[self.code[first] : self.code[last - 1] + 1]:
            if token.kind == "space":
                token.text = "\n" * token.text.count("\n") or " "
            elif token.kind != "marker":
                token.text = ""

    def _closing(self, i: int) -> int:
        """After the bracket that ends the one at `i`."""
        stack, begun = [], i
        while i < len(self.code):
            text = self.at(i).text
            if text in _PAIRS.values():
                stack.append(text)
            elif text in _PAIRS:
                if not stack or stack.pop() != _PAIRS[text]:
                    break
                if not stack:
                    return i + 1
            i += 1
        raise _error(self.at(begun), f"`{self.at(begun).text}` has no end")

    # ---- kernel<<<grid, block, shared, stream>>>(arguments) ----

    def _launch(self, i: int) -> int:
        begin = self._kernel_before(i)
        end, depth = i + 1, 0
        while True:
            text = self.at(end).text
            if self.at(end).kind == "end" or text == ";":
                raise _error(self.at(i), "`<<<` has no `>>>`")
            depth += (text in _PAIRS.values()) - (text in _PAIRS)
            if depth == 0 and [self.at(end + k).text for k in range(4)] == [">", ">", ">", "("]:
                break
            end += 1
        kernel = " ".join(self._text(begin, i).split())
        if any(self.at(k).text == "<<<" for k in range(i + 1, end)):
            raise _error(self.at(i), "a launch within a launch")
        self._clear(begin, i)
        name = kernel.replace("\\", "\\\\").replace('"', '\\"')
        self.at(begin).text = (
            f'::cuda_emulator::launcher("{name}", __builtin_FILE(), __builtin_LINE(), '
            f"[=](auto &...cuda_emulator_arguments) -> void {{ {kernel}(cuda_emulator_arguments...); }}, "
        )
        self.at(i).text = ""
        for k in range(3):
            self.at(end + k).text = ")" if k == 2 else ""
        return i + 1  # the configuration and the arguments may hold launches' words, too

    def _kernel_before(self, i: int) -> int:
        """Where the expression that names the kernel begins: `a::b<c>::d<e>`, `this->f`, `(*f)`."""
        begin = i
        while True:
            k = begin - 1
            if self.at(k).text == ">":
                k = self._before_opening(k, {"<"}, {">"})
            elif self.at(k).text in (")", "]"):
                k = self._before_opening(k)
                if self.at(k).kind != "word" and self.at(begin - 1).text == ")":
                    return k + 1
            if self.at(k).kind != "word" or self.at(k).text == "return":
                raise _error(self.at(i), "`<<<` does not follow the name of a kernel")
            begin = k
            if self.at(begin - 1).text == "::" and self.at(begin - 2).kind != "word" and self.at(begin - 2).text != ">":
                return begin - 1
            if self.at(begin - 1).text not in ("::", ".", "->"):
                return begin
            begin -= 1

    # ---- variables ----

    def _variable(self, i: int) -> tuple[int, int] | None:
        """Of the word at `i`: the statement that it is in, from its first token up to after its semicolon; None if it says where a function runs."""
        first = i
        while self.at(first - 1).kind != "end" and self.at(first - 1).text not in (";", "{", "}"):
            first -= 1
            if self.at(first).text in ("public", "private", "protected", "case", "default"):
                return None
        k, before = first, self.at(i - 1)
        while before.text in _RUNS_ON:
            i -= 1
            before = self.at(i - 1)
        if before.text in ("]", ")") and not self._is_attribute(i - 1):
            return None  # of a lambda
        angle = 0
        while True:
            token = self.at(k)
            if token.text in ("__attribute__", "alignas", "__align__", "decltype", "__declspec"):
                k = self._closing(k + 1)
                continue
            if token.text in ("operator", "(", "struct" if self._defines(k) else "(") and not angle:
                return None
            if token.text in ("[", "{", "=", ";") and not angle:
                break
            if token.kind == "end":
                return None
            angle += (token.text == "<") - (token.text == ">")
            k += 1
        end = k
        while self.at(end).text != ";":
            end = self._closing(end) if self.at(end).text in _PAIRS.values() else end + 1
            if self.at(end).kind == "end":
                return None
        return first, end + 1

    def _is_attribute(self, i: int) -> bool:
        return self.at(self._before_opening(i)).text in ("__attribute__", "alignas", "__align__")

    def _before_opening(self, i: int, opening: Collection[str] = _PAIRS.values(), closing: Collection[str] = _PAIRS.keys()) -> int:
        """In front of the bracket that begins what ends at `i`."""
        depth = 0
        while self.at(i).kind != "end":
            depth += (self.at(i).text in closing) - (self.at(i).text in opening)
            i -= 1
            if depth == 0:
                break
        return i

    def _defines(self, i: int) -> bool:
        """Whether `struct` at `i` is followed by a body."""
        if self.at(i).text not in ("struct", "class", "union", "enum"):
            return False
        while self.at(i).text not in (";", "=", "{") and self.at(i).kind != "end":
            i += 1
        return self.at(i).text == "{"

    def _declarators(self, first: int, end: int) -> tuple[str, list[tuple[str, str, str, str]]]:
        """A declaration as its specifiers and, for each thing declared: what stands before its name, name, extents, initializer."""
        parts: list[list[int]] = [[]]
        k, angle = first, 0
        initialized = False
        while k < end - 1:
            text = self.at(k).text
            if text in _PAIRS.values():
                after = self._closing(k)
                parts[-1] += range(k, after)
                k = after
                continue
            initialized |= text == "="
            angle += ((text == "<") - (text == ">")) * (not initialized)
            if text == "," and not angle:
                parts.append([])
                initialized = False
            else:
                parts[-1].append(k)
            k += 1
        found, specifiers = [], ""
        for number, part in enumerate(parts):
            stop = next((at for at, k in enumerate(part) if self.at(k).text in ("[", "=", "{")
                         and not (at and self.at(part[at - 1]).text in ("alignas", "__attribute__", "__align__"))), len(part))
            named = stop - 1
            if named < 0 or self.at(part[named]).kind != "word":
                raise _error(self.at(first), "a declaration that is not understood: write one variable with its extents")
            extent = stop
            while extent < len(part) and self.at(part[extent]).text == "[":
                extent = part.index(self._closing(part[extent]) - 1) + 1
            words = [self.at(k).text for k in part[:named]]
            if number == 0:
                stars = len(words) - len(_UNSTARRED.sub("", " ".join(words)).split())
                own = words[len(words) - stars :]
                drop = {"extern", "static", "inline", "thread_local", *_LIVES_IN, *_RUNS_ON}
                specifiers = " ".join(w for w in words[: len(words) - stars] if w not in drop)
            else:
                own = words
            extents, initializer = (" ".join(self.at(k).text for k in some) for some in (part[stop:extent], part[extent:]))
            found.append((" ".join(own), self.at(part[named]).text, extents, initializer))
        return specifiers, found

    def _shared(self, i: int, first: int, end: int) -> int:
        specifiers, found = self._declarators(first, end)
        dynamic = any(self.at(k).text == "extern" for k in range(first, end))
        out = ""
        for own, name, extents, initializer in found:
            if initializer:
                raise _error(self.at(i), f"__shared__ {name} has an initializer, which CUDA does not allow")
            kind = f"cuda_emulator_type_of_{name}"
            if dynamic:
                element = f"{specifiers} {own} {kind}{extents.split(']', 1)[1]}"
                out += f"typedef {element}; "
                if self._in_function(first):
                    out += f"{kind} *{name} = ::cuda_emulator::dynamic_variable<{kind}>(); "
                else:
                    out += f"static const ::cuda_emulator::Dynamic<{kind}> {name}; "
            else:
                found_by = f'::cuda_emulator::shared_variable<{kind}>([] {{ static char tag; return &tag; }}(), "{name}")'
                out += f"typedef {specifiers} {own} {kind} {extents}; {kind} &{name} = {found_by}; "
        return self._replace(first, end, out)

    def _device(self, i: int, first: int, end: int) -> int:
        if self._in_function(first):
            raise _error(self.at(i), f"{self.at(i).text} inside a function: CUDA has such variables at namespace scope")
        if any(self.at(k).text == "extern" for k in range(first, end)):
            raise _error(self.at(i), f"extern {self.at(i).text}: variables of other files need relocatable device code, which is not emulated")
        space = self.at(i).text
        if any(self.at(k).text == "__managed__" for k in range(first, end)):
            space = "__managed__"
        if any(self.at(k).text == "__constant__" for k in range(first, end)):
            space = "__constant__"
        specifiers, found = self._declarators(first, end)
        specifiers = specifiers.replace("constexpr", "const")
        out = ""
        for own, name, extents, initializer in found:
            made = f"cuda_emulator_value_of_{name}"
            const = " ".join(word for word in specifiers.split() if word != "const" or initializer)
            out += (
                f"static {const} {own} {made} {extents} {initializer}; "
                f'static decltype({made}) &{name} = ::cuda_emulator::device_variable({made}, "{space} {name}"); '
            )
        return self._replace(first, end, out)

    def _in_function(self, i: int) -> bool:
        """Whether the token stands in the body of a function: a brace around it follows `)`, or a word that may stand after one."""
        depth = 0
        while self.at(i).kind != "end":
            i -= 1
            text = self.at(i).text
            if text == "}":
                depth += 1
            elif text == "{":
                if depth:
                    depth -= 1
                elif self.at(i - 1).text in (")", "const", "noexcept", "override", "else", "do", "try", "mutable", ";", "{", "}"):
                    return True
        return False

    def _replace(self, first: int, end: int, text: str) -> int:
        self._clear(first, end)
        self.at(first).text = text.rstrip().removesuffix(";")
        self.at(end - 1).text = ";"  # where the next statement looks for its beginning
        return end


def _tokens(text: str) -> list[_Token]:
    """Of the text; those of system headers are of a kind of their own."""
    found = []
    file, line, system = "", 1, False
    for match in _TOKEN.finditer(text):
        kind, piece = match.lastgroup or "sign", match.group()
        if kind == "raw":
            kind = "string"
        if kind == "marker":
            if marker := _MARKER.match(piece):
                line, file, system = int(marker[1]) - 1, marker[2], "3" in marker[3].split()
        found.append(_Token("system" if system and kind not in ("space", "marker") else kind, piece, file, line))
        line += piece.count("\n")
    return found


def _error(token: _Token, text: str) -> ValueError:
    return ValueError(f"{token.file}:{token.line}: {text}")
