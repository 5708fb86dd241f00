import random

from vf_grpo.config import CurriculumConfig
from vf_grpo.curriculum import Curriculum


def curriculum(**settings: float) -> Curriculum:
    return Curriculum(CurriculumConfig(field="level", values=[1, 2, 3], memory=4, **settings))  # type: ignore[arg-type]


def test_success_opens_the_next_level_and_failure_does_not() -> None:
    found = curriculum(promote_at=0.5)
    found.record([(0, 0.2)] * 10)
    assert found.newest == 0
    found.record([(0, 0.9)] * 4)
    assert found.newest == 1


def test_a_few_lucky_groups_are_not_enough() -> None:
    found = curriculum(promote_at=0.5)
    found.record([(0, 1.0)] * 3)
    assert found.newest == 0


def test_reviews_of_earlier_levels_do_not_count_towards_the_next() -> None:
    found = curriculum(promote_at=0.5)
    found.record([(0, 1.0)] * 4 + [(0, 1.0)] * 20)
    assert found.newest == 1


def test_the_last_level_stays_open() -> None:
    found = curriculum(promote_at=0.5)
    for level in range(3):
        found.record([(level, 1.0)] * 8)
    assert found.newest == 2


def test_most_groups_play_the_newest_level_and_some_review() -> None:
    found = curriculum(promote_at=0.5, review_fraction=0.25)
    found.record([(0, 1.0)] * 4)
    levels = [found.choose(random.Random(i)) for i in range(1000)]
    assert 180 < levels.count(0) < 320


def test_a_restored_curriculum_goes_on_where_it_was() -> None:
    first, second = curriculum(promote_at=0.5), curriculum(promote_at=0.5)
    first.record([(0, 1.0)] * 6 + [(1, 1.0)])
    second.restore(first.save())
    for found in (first, second):
        found.record([(1, 1.0)] * 4)
    assert first.newest == second.newest == 2
    assert first.save() == second.save()
