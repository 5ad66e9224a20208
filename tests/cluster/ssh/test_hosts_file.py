"""hosts.toml: what it may say, and one clear line for each mistake."""

import pytest

from kraftproof.cluster.ssh.hosts_file import HostsFileError, enough_hosts, read_hosts

PRINT = "SHA256:" + "a" * 43


def write(folder, text):
    path = folder / "hosts.toml"
    path.write_text(text)
    return path


def host(name="alpha", address="198.18.0.1", rest=""):
    return f'[[host]]\nname = "{name}"\naddress = "{address}"\nfingerprint = "{PRINT}"\n{rest}\n'


def test_a_host_has_the_defaults_but_for_its_own_entries(tmp_path):
    text = '[defaults]\nuser = "kraft"\nport = 2222\n'
    text += host() + host("beta", "beta.example", 'user = "root"\nsudo = ""')
    alpha, beta = read_hosts(write(tmp_path, text))
    assert (alpha.name, alpha.user, alpha.port, alpha.sudo) == ("alpha", "kraft", 2222, "sudo -n")
    assert (beta.address, beta.user, beta.port, beta.sudo) == ("beta.example", "root", 2222, "")
    assert alpha.directory == ".kraftproof"


@pytest.mark.parametrize("address", ["fe80::1", "alpha.example.", "alpha_1", "höst.example"])
def test_addresses_of_all_kinds_are_taken(tmp_path, address):
    (only,) = read_hosts(write(tmp_path, host(address=address)))
    assert only.address == address


def test_two_hosts_may_share_an_address_by_different_ports(tmp_path):
    text = host("alpha", rest="port = 2201") + host("beta", rest="port = 2202")
    assert [one.port for one in read_hosts(write(tmp_path, text))] == [2201, 2202]


MISTAKES = {
    "no TOML": ("[[host]\n", "no TOML: .*line 1"),
    "nothing": ("", "no hosts: a table \\[\\[host\\]\\] for each is expected"),
    "another table": (
        "[hosts]\n",
        "the file: unknown key 'hosts' .did you mean host..: ",
    ),
    "a key of a host": (
        host(rest="prot = 22"),
        "host 1: unknown key 'prot' .did you mean port..: one of name, address, .*port",
    ),
    "a key of the defaults": ('[defaults]\nname = "a"\n', "\\[defaults\\]: unknown key 'name'"),
    "a kind": (host(rest='port = "22"'), "host 1: port '22': a number is expected"),
    "a truth": (host(rest="port = true"), "host 1: port True: a number is expected"),
    "no name": ('[[host]]\naddress = "a"\n', "host 1: name is missing"),
    "no address": ('[[host]]\nname = "a"\n', "host 1: address is missing"),
    "a name": (host("a b"), "host a b: a name has letters"),
    "a port": (host(rest="port = 70000"), "host alpha: port 70000: 1 to 65535 is expected"),
    "a name twice": (host() + host(), "host 2: the name 'alpha' is that of host 1 too"),
    "a place twice": (host() + host("beta"), "host beta: 198.18.0.1:22 is that of host alpha too"),
    "a key file": (host(rest='key = "/no/key"'), "host alpha: key /no/key: there is no such file"),
    "a fingerprint": (
        '[[host]]\nname = "a"\naddress = "b"\nfingerprint = "MD5:00"\n',
        "host a: fingerprint MD5:00: SHA256: and 43 letters are expected",
    ),
    "a key folder": (host(rest='key = "/"'), "host alpha: key /: a folder"),
    "an address with a user": (
        host(address="kraft@alpha"),
        "host alpha: address 'kraft@alpha': a host name or an IP address alone is expected",
    ),
    "an address with a port": (host(address="198.18.0.1:22"), "address '198.18.0.1:22': a host"),
    "an address with a scheme": (host(address="ssh://alpha"), "address 'ssh://alpha': a host name"),
    "an address in brackets": (host(address="[::1]"), "address '\\[::1\\]': a host name or an IP"),
    "a blank address": (host(address=" "), "address ' ': a host name or an IP address alone"),
    "an address with two dots": (host(address="a..b"), "address 'a..b': a host name or an IP"),
    "a long address": (host(address="a" * 64), "address 'a+': a host name or an IP address alone"),
    "a node address": (
        host(rest='node_address = "alpha"'),
        "host alpha: node_address 'alpha': an IPv4 address is expected",
    ),
    "an IPv6 node address": (host(rest='node_address = "::1"'), "'::1': an IPv4 address is expec"),
    "no python": (host(rest='python = ""'), "host alpha: python is empty: .* for 'python3'"),
    "no directory": (host(rest='directory = ""'), "directory is empty: .* for '.kraftproof'"),
    "a quotation mark": (host(rest="sudo = 'a \"b'"), "sudo 'a \"b': No closing quotation"),
    "known hosts": (
        '[[host]]\nname = "a"\naddress = "b"\nknown_hosts = "/no/hosts"\n',
        "host a: known_hosts /no/hosts: there is no such file; give a fingerprint",
    ),
    "defaults": ("defaults = 3\n", "defaults 3: a table is expected"),
    "hosts": ("host = [3]\n", "host 1: a table \\[\\[host\\]\\] is expected"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_one_clear_line(tmp_path, mistake):
    text, line = MISTAKES[mistake]
    path = write(tmp_path, text)
    with pytest.raises(HostsFileError, match=line) as refusal:
        read_hosts(path)
    assert str(refusal.value).startswith(f"--hosts {path}: ")
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_one_clear_line(tmp_path):
    with pytest.raises(HostsFileError, match=r"nothing\.toml: No such file or directory"):
        read_hosts(tmp_path / "nothing.toml")


def test_a_host_has_one_node(tmp_path):
    path = write(tmp_path, host())
    hosts = read_hosts(path)
    enough_hosts(path, hosts, 1)
    with pytest.raises(HostsFileError, match="1 hosts for 3 nodes: a host has one node"):
        enough_hosts(path, hosts, 3)
