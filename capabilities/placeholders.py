"""Find templates that were published without being filled in, such as `{{NAME}}`."""

import re

# Bounded, because definitions are untrusted. Variables in single braces are legal.
UNFILLED_TEMPLATE = re.compile(
    r"<<[A-Za-z_][^<>]{0,100}(?<!\s)>>"
    r"|\{\{\s{0,5}[A-Za-z_.][^{}]{0,100}\}\}"
    r"|\$\{\s{0,5}[A-Za-z_.][^{}]{0,100}\}"
)
ANGLE_BRACKETS = re.compile(r"<[^<>\s]{1,100}>")
# A name may have angle brackets: `List<String> tools`, `Runs in <div> elements`.
NAME_IN_ANGLE_BRACKETS = re.compile(
    r"^\s{0,20}<[^<>]{1,100}>\s{0,20}$"
    r"|(?<!\w)<[A-Z][A-Z0-9_ -]{1,100}>"
    r"|(?<!\w)<(?i:your|insert|enter|replace)\b[^<>]{0,100}>"
)


def find_name_template_error(name: str) -> str:
    """Return the message for an unfilled template in a name, or ''.

    `<X>` is one if it is the whole name, in capitals, or like `<your name>`.
    """
    return build_message(
        UNFILLED_TEMPLATE.search(name) or NAME_IN_ANGLE_BRACKETS.search(name)
    )


def find_url_template_error(url: str) -> str:
    """Return the message for an unfilled template in a URL, or ''."""
    return build_message(UNFILLED_TEMPLATE.search(url) or ANGLE_BRACKETS.search(url))


def has_template(text: str) -> bool:
    return UNFILLED_TEMPLATE.search(text) is not None


def build_message(match: re.Match[str] | None) -> str:
    if match is None:
        return ""
    return f"contains the unfilled template {match[0].strip()}: put the value there"
