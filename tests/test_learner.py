"""The learner's process as the test process sees it: results, errors, limits, endings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from autograder.limits import LIMITS
from autograder.link import RefusedResult, Stopped, connect
from autograder.processes import Lost
from autograder.warm import WarmServers


@pytest.fixture
def link(start_learner):
    link = connect(start_learner)
    link.run("import numpy as np", "imports")
    yield link
    link.close()


def define(link, source):
    assert link.run(source, "a cell") is None


def test_an_answer_is_called_with_arrays_and_gives_arrays(link):
    define(link, "def f(x, *, k=1):\n    return k * x @ x.T, {'sum': x.sum()}")
    x = np.arange(6.0).reshape(2, 3)
    product, extra = link.call("f", (x,), {"k": 3})
    assert np.array_equal(product, 3 * x @ x.T)
    assert extra == {"sum": 15.0}


def test_an_error_comes_back_as_itself_with_the_learners_line(link):
    define(link, "def f(x):\n    y = x + 1\n    return y @ x")
    with pytest.raises(ValueError, match="matmul") as caught:
        link.call("f", (np.ones((2, 3)),), {})
    trouble = caught.value.from_answer
    assert (trouble.line, trouble.text) == (3, "return y @ x")


def test_an_error_of_the_learners_own_kind_comes_back_as_its_nearest_built_in(link):
    define(link, "class Mine(KeyError): pass\ndef f(): raise Mine('no')")
    with pytest.raises(KeyError) as caught:
        link.call("f", (), {})
    assert caught.value.from_answer.name == "Mine"


def test_an_exception_whose_class_wants_more_than_a_message_still_comes_back(link):
    define(link, "def f(): return b'\\xff'.decode()")
    with pytest.raises(ValueError, match="utf-8"):
        link.call("f", (), {})


def test_a_cell_with_a_syntax_error_is_reported_and_the_next_cell_runs(link):
    trouble = link.run("def f(:\n    pass", "a cell")
    assert trouble is not None
    assert (trouble.name, trouble.line) == ("SyntaxError", 1)
    define(link, "def f(): return 1")
    assert link.call("f", (), {}) == 1


def test_a_function_given_as_an_argument_is_called_back(link):
    define(link, "def slope(f, x): return (f(x + 1) - f(x - 1)) / 2")
    assert link.call("slope", (lambda x: x**2, 3.0), {}) == 6.0


def test_an_error_in_a_given_function_reaches_the_answer_and_comes_back(link):
    define(link, "def f(g):\n    try:\n        g()\n    except ZeroDivisionError:\n        return 'caught'")
    assert link.call("f", (lambda: 1 / 0,), {}) == "caught"


def test_a_given_function_may_call_another_answer_meanwhile(link):
    define(link, "def inner(x): return 2 * x\ndef outer(f): return f(5) + 1")
    assert link.call("outer", (lambda x: link.call("inner", (x,), {}),), {}) == 11


def test_a_change_of_an_argument_is_reported_and_applied(link):
    define(link, "def f(x):\n    x += 1\n    return x")
    x = np.zeros(3)
    assert np.array_equal(link.call("f", (x,), {}), np.ones(3))
    assert np.array_equal(x, np.ones(3))
    assert link.changed == ["f"]


def test_a_change_that_is_taken_back_to_the_last_bit_is_none(link):
    define(link, "def f(x):\n    old = x[0]\n    x[0] = 9\n    x[0] = old")
    link.call("f", (np.array([0.1, 0.2]),), {})
    assert link.changed == []


def test_draws_from_a_generator_are_the_same_on_both_sides(link):
    define(link, "def f(rng): return rng.random(3)")
    ours, twin = np.random.default_rng(1), np.random.default_rng(1)
    assert np.array_equal(link.call("f", (ours,), {}), twin.random(3))
    assert ours.random() == twin.random()


def test_a_warning_in_an_answer_is_a_warning_here(link):
    define(link, "def f(): return np.array([1.0]) / 0")
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        link.call("f", (), {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            link.call("f", (), {})


def test_what_is_printed_is_kept_up_to_the_limit(link):
    define(link, "def f():\n    for _ in range(10_000): print('all the same')")
    link.call("f", (), {})
    (printed,) = link.printed
    assert printed.startswith("all the same")
    assert "cut" in printed
    assert len(printed) < LIMITS.printed_chars + 100


@pytest.mark.parametrize("result", ["object()", "lambda: 1", "{1, 2}", "np.array(['a'])", "(i for i in [])"])
def test_a_result_that_is_no_plain_data_is_refused(link, result):
    define(link, f"def f(): return {result}")
    with pytest.raises(RefusedResult, match="f returned"):
        link.call("f", (), {})


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline",
        "%matplotlib qt",
        "%%time\nx = 1",
        "!pip install something",
        "%pip install something",
        "%%bash\nls",
        "x = !ls",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()",
        "from IPython.display import display\ndisplay('text')",
        "print('\\x1b[31m', 'to', 'err', file=__import__('sys').stderr)",
    ],
)
def test_magics_commands_and_pictures_are_neutral(link, source):
    assert link.run(source, "a cell") is None
    define(link, "def f(): return 1")
    assert link.call("f", (), {}) == 1


@pytest.mark.parametrize("source", ["    x = 1\n    y = 2", ">>> x = 1\n>>> y = 2", "\n\nx = 1\ny = 2", "x = 1;y = 2;"])
def test_what_ipython_takes_from_a_cell_before_it_runs_is_taken(link, source):
    define(link, source)
    define(link, "def f(): return x + y")
    assert link.call("f", (), {}) == 3


def test_a_process_begins_with_no_trace_of_a_rehearsal(link):
    define(link, "def f(): return [name for name in globals() if 'rehearse' in name]")
    assert link.call("f", (), {}) == []
    assert link.printed == []


def test_the_end_of_a_warm_server_is_not_taken_for_the_answers(sandbox):
    servers = WarmServers(sandbox)
    servers.prepare(with_torch=False)
    link = connect(servers.start)
    define(link, "import time\ndef f(g):\n    g()\n    time.sleep(60)")
    with pytest.raises(Lost):
        link.call("f", (servers._servers[False]._process.kill,), {})
    link.close()
    servers.close()


def test_input_ends_at_once(link):
    trouble = link.run("input('name?')", "a cell")
    assert trouble is not None
    assert trouble.message == "input() is not available here"


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        "import time; time.sleep(1000)",
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    while True: pass",
    ],
    ids=["loop", "loop that swallows", "sleep", "loop that blocks signals"],
)
def test_what_does_not_end_is_stopped_from_outside_and_named(link, short_limits, body):
    define(link, f"def f():\n    {body}")
    with pytest.raises(Stopped, match="a call of f took longer than 2 seconds") as caught:
        link.call("f", (), {})
    assert caught.value.status.name == "timeout"
    assert not link.alive


def test_a_learner_that_does_not_read_what_we_send_is_stopped(link, short_limits):
    define(link, "def f(g, x):\n    while True: pass")
    with pytest.raises(Stopped, match="took longer"):
        link.call("f", (len, np.ones(4_000_000)), {})


@pytest.mark.parametrize(
    "body", ["list(range(10**10))", "np.ones((10**6, 10**6))", "bytearray(10**11)", "'a' * 10**11"]
)
def test_too_much_memory_is_named_and_the_process_lives_on(link, body):
    define(link, f"def f(): return {body}")
    with pytest.raises(Stopped) as caught:
        link.call("f", (), {})
    assert caught.value.status.name == "memory"
    assert link.alive


@pytest.mark.parametrize(
    "ending",
    [
        "import os; os._exit(0)",
        "import sys; sys.exit(0)",
        "quit()",
        "import os; os.abort()",
    ],
)
def test_ending_the_process_is_died_and_no_result(link, ending):
    define(link, f"def f():\n    {ending}")
    with pytest.raises(Stopped) as caught:
        link.call("f", (), {})
    assert caught.value.status.name == "died"


def test_a_process_that_the_machine_kills_is_no_exit_of_the_answers(link):
    define(link, "def f(kill):\n    kill()\n    while True: pass")
    with pytest.raises(Stopped, match="most often it needs more memory") as caught:
        link.call("f", (link.process.kill,), {})
    assert caught.value.status.name == "memory"


def test_an_error_that_cannot_say_what_it_is_keeps_its_name(link):
    define(link, "class Mute(ValueError):\n    def __str__(self): return 10**5000\ndef f(): raise Mute(1, 2)")
    with pytest.raises(ValueError, match=r"^$") as caught:
        link.call("f", (), {})
    assert caught.value.from_answer.name == "Mute"
    define(link, "def g(): raise KeyError(10**5000)")
    with pytest.raises(KeyError):
        link.call("g", (), {})


@pytest.mark.parametrize(
    "bytes_written",
    [
        "b'garbage' * 100",
        "(2**60).to_bytes(8, 'big') + bytes(8)",
        "(2).to_bytes(8, 'big') + bytes(8) + b'[]'",
        "bytes(15)",
    ],
)
def test_bytes_forged_on_the_wire_are_no_result(link, short_limits, bytes_written):
    define(
        link,
        f"import os\ndef f():\n    for fd in range(3, 20):\n        try: os.write(fd, {bytes_written})\n        except OSError: pass\n    os._exit(0)",
    )
    with pytest.raises(Stopped) as caught:
        link.call("f", (), {})
    assert caught.value.status.name in ("died", "timeout")


def test_a_forged_change_of_an_argument_that_does_not_fit_is_not_applied(link):
    define(
        link,
        "import sys\n"
        "def f(x):\n"
        "    frame = sys._getframe()\n"
        "    while type(server := frame.f_locals.get('self')).__name__ != 'Server': frame = frame.f_back\n"
        "    server.reply({'op': 'result', 'value': 1, 'changed': [[0, 7]], 'generators': [], 'warnings': [], 'printed': ''})\n"
        "    while True: pass",
    )
    x = np.zeros(3)
    with pytest.raises(Stopped) as caught:
        link.call("f", (x,), {})
    assert caught.value.status.name == "died"
    assert not x.any()


def test_a_stream_that_the_learner_closes_costs_nothing(link):
    define(link, "import sys\ndef f():\n    sys.stdout.close()\n    return 1")
    assert link.call("f", (), {}) == 1
    assert link.call("f", (), {}) == 1


def test_an_answer_can_make_threads_and_no_process(link):
    define(
        link,
        "import os, subprocess, sys, threading\n"
        "def threads():\n"
        "    done = []\n"
        "    thread = threading.Thread(target=done.append, args=(1,))\n"
        "    thread.start(); thread.join()\n"
        "    return done\n"
        "def fork(): os.fork()\n"
        "def program(): subprocess.Popen([sys.executable, '-c', 'pass'])",
    )
    assert link.call("threads", (), {}) == [1]
    for name in ("fork", "program"):
        with pytest.raises(OSError, match=r"Resource temporarily unavailable|not permitted"):
            link.call(name, (), {})


def test_nothing_is_left_for_the_next_learner(start_learner):
    import_and_look = "import glob\ndef f():\n    seen = glob.glob('/tmp/mine*') + glob.glob('/dev/shm/mine*')\n"
    write = "    [open(folder + '/mine', 'w').write('x') for folder in ('/tmp', '/dev/shm')]\n    return seen"
    for _ in range(2):
        link = connect(start_learner)
        define(link, import_and_look + write)
        assert link.call("f", (), {}) == []
        link.close()


def test_a_forked_learner_is_alone_and_without_capabilities(warm):
    link = connect(warm.start)
    define(
        link,
        "import ctypes, os\n"
        "def alone(): return os.getpid(), os.getppid(), os.listdir('/proc')\n"
        "def call(name, *args):\n"
        "    libc = ctypes.CDLL(None, use_errno=True)\n"
        "    return getattr(libc, name)(*[a.encode() if isinstance(a, str) else a for a in args])",
    )
    assert link.call("alone", (), {}) == (1, 0, [])
    for call in (
        ("unshare", 0x10000000),
        ("mount", "proc", "/proc", "proc", 0, None),
        ("umount2", "/proc", 0),
        ("ptrace", 16, 1, 0, 0),
        ("sethostname", "mine", 4),
    ):
        assert link.call("call", call, {}) == -1, call
    link.close()


def test_the_next_learner_is_served_whatever_became_of_the_last(warm, short_limits):
    for body in ("while True: pass", "import os; os._exit(3)", "return 1"):
        link = connect(warm.start)
        define(link, f"def f():\n    {body}")
        if body == "return 1":
            assert link.call("f", (), {}) == 1
        else:
            with pytest.raises(Stopped):
                link.call("f", (), {})
        link.close()


def test_an_answer_that_ends_an_iteration_ends_none_of_the_test_s(link):
    define(link, "def f(x): raise StopIteration")
    with pytest.raises(RuntimeError):
        assert all(map(link.answer("f"), [1, 2, 3]))


def test_a_generator_cannot_be_made_to_give_one_number_for_ever(link):
    define(
        link,
        "def f(rng):\n"
        "    state = rng.bit_generator.state\n"
        "    state['state'] = {'state': 0, 'inc': 0}\n"
        "    rng.bit_generator.state = state",
    )
    with pytest.raises(Stopped):
        link.call("f", (np.random.default_rng(1),), {})


def test_what_many_calls_print_is_kept_up_to_the_limit(link):
    define(link, "def f(): print('x' * 9_000)")
    for _ in range(5):
        link.call("f", (), {})
    assert sum(map(len, link.printed)) <= 2 * LIMITS.printed_chars


def test_keys_made_to_collide_cost_no_time(link):
    define(link, "def f(): return {n * (2**61 - 1): 0 for n in range(3)}")
    assert len(link.call("f", (), {})) == 3
    define(link, f"def f(): return dict.fromkeys(range({LIMITS.dict_items} + 1))")
    with pytest.raises(RefusedResult, match="a dict of more than"):
        link.call("f", (), {})
