# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
import signal

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


def pytest_configure():
    """A shell ignores SIGINT on behalf of what it starts in the background; the tests send it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
