"""Queues of items: packets, pages, whatever a domain counts."""

from __future__ import annotations

from collections import deque


class Queue:
    """A queue of one row. It may be full, or empty; its items are in the order in which they will be taken.

    `area` is the length over time: divided by the time it is the mean length.
    """

    __slots__ = ("area", "capacity", "domain", "items", "longest", "number", "queued", "since")

    def __init__(self, number: int, domain: int, capacity: int, queued: set[int] | None = None) -> None:
        self.number = number
        self.domain = domain  # of the items
        self.capacity = capacity
        self.items: deque[int] = deque()
        self.queued = set() if queued is None else queued  # items of the domain that are on some queue
        self.longest = 0
        self.area = 0
        self.since = 0

    def push(self, item: int, front: bool, now: int) -> bool:
        """Put an item at the tail or in front; False if the queue is full."""
        if len(self.items) >= self.capacity:
            return False
        self._account(now)
        self.queued.add(item)
        if front:
            self.items.appendleft(item)
        else:
            self.items.append(item)
        self.longest = max(self.longest, len(self.items))
        return True

    def pop(self, now: int) -> int:
        """Take the first item of a queue that is not empty."""
        self._account(now)
        item = self.items.popleft()
        self.queued.discard(item)
        return item

    def splice(self, to: Queue, now: int) -> None:
        """Move all items to the tail of another queue, full or not."""
        if not self.items or to is self:
            return
        self._account(now)
        to._account(now)
        to.items.extend(self.items)
        to.longest = max(to.longest, len(to.items))
        self.items.clear()

    def forget(self, now: int) -> None:
        """Begin the statistics again."""
        self.longest = len(self.items)
        self.area = 0
        self.since = max(self.since, now)

    def _account(self, now: int) -> None:
        self.area += len(self.items) * (now - self.since)
        self.since = now
