"""Write junit.xml: test cases for the model, each check of the node logs, and the verdict."""

from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from kraftproof.checkers.verdict import Verdict
from kraftproof.report.page import Report


def write_junit(report: Report) -> None:
    """Write junit.xml of a run into its directory."""
    run, options = report.view.run, report.view.options
    suite_name = f"kraftproof.{options['backend']}.{run['workload']['name']}"
    check, findings = report.check, report.findings
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
    if report.verdict is not Verdict.VALID:
        tag = "failure" if report.verdict is Verdict.INVALID else "error"
        reason = SubElement(whole, tag, message=f"{report.verdict.value}: {_first(report)}")
        reason.text = "\n".join(report.why)
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    indent(suite)
    ElementTree(suite).write(report.view.directory.junit, encoding="utf-8", xml_declaration=True)


def _first(report: Report) -> str:
    return report.why[0] if report.why else "no reason was given"
