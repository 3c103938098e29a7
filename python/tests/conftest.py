# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "foveate",
    deadline=None,
    database=None,
    max_examples=150,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("foveate")


@pytest.fixture
def rng():
    return np.random.default_rng(7)
