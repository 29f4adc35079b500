"""Numbers and dates as a document writes them."""

from __future__ import annotations

from datetime import date, timedelta

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = (
    "-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def in_words(number: int) -> str:
    """A number from 0 to 999,999 in English words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")
    thousands, rest = divmod(number, 1000)
    joint = " and " if 0 < rest < 100 else " "
    return f"{in_words(thousands)} thousand" + (joint + in_words(rest) if rest else "")


def long_date(day: date) -> str:
    """A date as ``3 March 2021``."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def short_date(day: date) -> str:
    """A date as ``03-Mar-2021``, the way of clinical records."""
    return f"{day.day:02d}-{MONTHS[day.month - 1][:3]}-{day.year}"


def roman(number: int) -> str:
    """A number below 4,000 in Roman numerals."""
    text = ""
    for value, sign in (
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
        (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ):  # fmt: skip
        text += sign * (number // value)
        number %= value
    return text


def letter(index: int) -> str:
    """The item sign of an index from 0: a, b … z, aa, ab …"""
    sign = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        sign = chr(97 + rest) + sign
    return sign


def years_between(born: date, day: date) -> int:
    """Full years of age on a day."""
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def add_years(day: date, years: int) -> date:
    """The same day some years later; 29 February becomes 28 February."""
    leap_day = (day.month, day.day) == (2, 29)
    return date(day.year + years, day.month, 28 if leap_day else day.day)


def add_days(day: date, days: int) -> date:
    """The day so many days later."""
    return day + timedelta(days=days)
