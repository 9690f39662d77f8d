"""How checkpoints store experts, from the tensors that transformers saves: which part of which tensor has which name.

A layout is a function from the original tensors to {name: Part}. Cases write them with `layout`, from rules that are
tried in turn; a name that no rule fits stays as it is.
"""
import re
from dataclasses import dataclass
from typing import Callable

import numpy as np


@dataclass
class Part:
    array: np.ndarray
    put: Callable  # put(tensors, value): writes what the stored bytes mean to where it came from


def whole(name, a):
    return Part(a, lambda meant, value: meant.__setitem__(name, value))


def rename(pattern, to):
    """One name for another."""
    def rule(name, a, tensors):
        return {re.sub(pattern, to, name): whole(name, a)} if re.search(pattern, name) else None
    return rule


def stack(pattern, to):
    """Experts that are tensors of their own, numbered by the group (?P<e>...), become one under the name of the first."""
    def rule(name, a, tensors):
        found = re.search(pattern, name)
        if not found:
            return None
        if int(found["e"]) != 0:
            return {}
        names = {}
        for other in tensors:
            match = re.search(pattern, other)
            if match and other[:match.start()] == name[:found.start()] and other[match.end():] == name[found.end():] \
                    and re.sub(pattern, to, other) == re.sub(pattern, to, name):
                names[int(match["e"])] = other

        def put(meant, value):
            for e, other in names.items():
                meant[other] = value[e]
        return {re.sub(pattern, to, name): Part(np.stack([tensors[names[e]] for e in range(len(names))]), put)}
    return rule


def split(pattern, parts):
    """Parts of one tensor: {name: function that gives a view of it}."""
    def rule(name, a, tensors):
        if not re.search(pattern, name):
            return None

        def part(view):
            def put(meant, value):
                view(meant[name])[...] = value
            return Part(np.ascontiguousarray(view(a)), put)
        return {re.sub(pattern, to, name): part(view) for to, view in parts.items()}
    return rule


def layout(*rules):
    def apply(tensors):
        out = {}
        for name, a in tensors.items():
            parts = next((p for p in (rule(name, a, tensors) for rule in rules) if p is not None), {name: whole(name, a)})
            out.update(parts)
        return out
    return apply


def stacked(block, mlx_block="switch_mlp", names=(("gate_proj",) * 2, ("up_proj",) * 2, ("down_proj",) * 2)):
    """MLX's layout of experts that are tensors of their own: rules for <block>.experts.N.<name>."""
    return [stack(rf"{block}\.experts\.(?P<e>\d+)\.{name}\.", rf"{block}.{mlx_block}.{to}.") for name, to in names]


def swapped(a):
    return np.swapaxes(a, -1, -2)
