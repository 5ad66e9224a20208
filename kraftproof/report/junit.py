"""Writes junit.xml: one test case for the model, one for each node-log check, one for all."""

from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from checkers.verdict import Verdict
from kraftproof.runner import RunResult


def write_junit(result: RunResult) -> None:
    """Write the JUnit page of a run into its directory."""
    run = result.directory.read_run()
    options = run["options"]
    suite_name = f"kraftproof.{options['backend']}.{run['workload']['name']}"
    check = result.check
    findings = check.findings
    suite = Element("testsuite", name=suite_name)
    names = [f"model {run['workload']['model']}"]
    names += check.checked
    elsewhere = {finding.check for finding in findings} - set(names)
    for name in [*names, *sorted(elsewhere)]:
        case = SubElement(suite, "testcase", classname=suite_name, name=name)
        for finding in findings:
            if finding.check == name:
                message = finding.sentence
                SubElement(case, "failure", message=message, type=str(finding.kind))
    whole = SubElement(suite, "testcase", classname=suite_name, name=f"seed {options['seed']}")
    if result.verdict is not Verdict.VALID:
        tag = "failure" if result.verdict is Verdict.INVALID else "error"
        reason = SubElement(whole, tag, message=f"{result.verdict.value}: {_first(result)}")
        reason.text = "\n".join(result.why)
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    indent(suite)
    ElementTree(suite).write(result.directory.junit, encoding="utf-8", xml_declaration=True)


def _first(result: RunResult) -> str:
    return result.why[0] if result.why else "no reason was given"
