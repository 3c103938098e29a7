# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
import importlib.util

import pytest

# These tests have requirements of their own: make test-torch.
if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def draw():
    """Normal numbers, the same in each run."""
    import torch

    generator = torch.Generator().manual_seed(11)

    def normal(*shape, dtype=torch.float32, grad=False):
        tensor = torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)
        return tensor.requires_grad_(grad)

    return normal
