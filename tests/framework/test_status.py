import pytest
from podium.framework.status import SUCCESS, Code, Status


def test_codes_are_numbered_and_named_as_upstream():
    assert [(int(code), str(code)) for code in Code] == [
        (0, "Success"),
        (1, "Error"),
        (2, "Unschedulable"),
        (3, "UnschedulableAndUnresolvable"),
        (4, "Wait"),
        (5, "Skip"),
        (6, "Pending"),
    ]


def test_rejections():
    assert {code for code in Code if code.is_rejected} == {
        Code.UNSCHEDULABLE,
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
        Code.PENDING,
    }


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (Status.success(), Code.SUCCESS, "Success"),
        (Status.unschedulable("a", "b"), Code.UNSCHEDULABLE, "Unschedulable: a, b"),
        (Status.unresolvable("a"), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "UnschedulableAndUnresolvable: a"),
        (Status.wait(3, "a"), Code.WAIT, "Wait: a"),
        (Status.skip(), Code.SKIP, "Skip"),
        (Status.pending("a"), Code.PENDING, "Pending: a"),
        (Status.error("a"), Code.ERROR, "Error: a"),
        (Status.error(ValueError("a")), Code.ERROR, "Error: a"),
        (Status(Code.ERROR, ("b",), cause=ValueError("a")), Code.ERROR, "Error: a, b"),
    ],
)
def test_constructors_and_messages(status, code, text):
    assert status.code is code
    assert str(status) == text
    assert status.is_rejected == code.is_rejected
    assert status.is_success == (code is Code.SUCCESS)


def test_statuses_are_values():
    assert Status.success() == SUCCESS
    assert Status.unschedulable("a").by("P") == Status(Code.UNSCHEDULABLE, ("a",), "P")
    assert Status.wait(60).timeout == 60
    with pytest.raises(AttributeError):
        SUCCESS.code = Code.ERROR
