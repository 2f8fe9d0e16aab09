// Validating resolvers, each as a process in the network of a test.

export interface RootOfTest {
  /** The root server. */
  readonly address: string
  /** `TAG ALGORITHM DIGEST-TYPE DIGEST` of its key. */
  readonly ds: string
  /** `FLAGS 3 ALGORITHM KEY` of its key. */
  readonly dnskey: string
}

export interface ResolverRow {
  /** As the documentation calls it. */
  readonly name: string
  /** Command that prints the text for `versionOf`. */
  readonly version: readonly string[]
  readonly address: string
  /** Files of its folder. */
  readonly files: (root: RootOfTest, address: string) => Readonly<Record<string, string>>
  /** Run in its folder. */
  readonly command: readonly string[]
}

/** A resolver without validation, for forwarders. */
const plainAddress = '11.1.1.100'

const hints = ({ address }: RootOfTest): string =>
  `. 3600000 NS a.root-servers.net.\na.root-servers.net. 3600000 A ${address}\n`

const unboundConf = (address: string, modules: string, more: string): string => `server:
  interface: ${address}
  access-control: 0.0.0.0/0 allow
  do-daemonize: no
  chroot: ""
  username: ""
  directory: "."
  pidfile: ""
  use-syslog: no
  root-hints: "hints"
  module-config: "${modules}"
${more}remote-control:
  control-enable: no
`

export const plainResolver: ResolverRow = {
  name: 'plain',
  version: ['unbound', '-V'],
  address: plainAddress,
  files: (root, address) => ({
    hints: hints(root),
    'unbound.conf': unboundConf(address, 'iterator', ''),
  }),
  command: ['unbound', '-d', '-c', 'unbound.conf'],
}

export const resolverRows: readonly ResolverRow[] = [
  {
    name: 'unbound',
    version: ['unbound', '-V'],
    address: '11.1.1.101',
    files: (root, address) => ({
      hints: hints(root),
      'unbound.conf': unboundConf(
        address,
        'validator iterator',
        `  trust-anchor: ". DS ${root.ds}"\n  aggressive-nsec: yes\n`,
      ),
    }),
    command: ['unbound', '-d', '-c', 'unbound.conf'],
  },
  {
    name: 'BIND',
    version: ['named', '-v'],
    address: '11.1.1.102',
    files: (root, address) => {
      const [flags, protocol, algorithm, ...key] = root.dnskey.split(' ')
      return {
        hints: hints(root),
        'named.conf': `options {
  directory ".";
  listen-on { ${address}; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion yes;
  allow-query { any; };
  dnssec-validation yes;
  synth-from-dnssec yes;
};
controls { };
zone "." { type hint; file "hints"; };
trust-anchors { . static-key ${flags} ${protocol} ${algorithm} "${key.join('')}"; };
`,
      }
    },
    command: ['named', '-g', '-4', '-c', 'named.conf'],
  },
  {
    name: 'Knot Resolver',
    version: ['kresd', '--version'],
    address: '11.1.1.103',
    files: (root, address) => ({
      'kresd.conf': `net.listen('${address}', 53)
modules = { 'hints > iterate' }
hints.root({ ['a.root-servers.net.'] = '${root.address}' })
trust_anchors.add('. DNSKEY ${root.dnskey}')
cache.size = 10 * MB
`,
    }),
    command: ['kresd', '-n', '-c', 'kresd.conf', '.'],
  },
  {
    name: 'PowerDNS Recursor',
    version: ['pdns_recursor', '--version'],
    address: '11.1.1.104',
    files: (root, address) => ({
      hints: hints(root),
      'anchor.lua': `clearTA('.')\naddTA('.', "${root.ds}")\n`,
      'recursor.conf': `local-address=${address}
hint-file=hints
lua-config-file=anchor.lua
dnssec=validate
dont-query=
allow-from=0.0.0.0/0
daemon=no
socket-dir=.
security-poll-suffix=
threads=1
write-pid=no
`,
    }),
    command: ['pdns_recursor', '--config-dir=.'],
  },
  {
    name: 'dnsmasq',
    version: ['dnsmasq', '--version'],
    address: '11.1.1.105',
    files: (root, address) => ({
      'dnsmasq.conf': `listen-address=${address}
bind-interfaces
no-resolv
no-hosts
no-poll
server=${plainAddress}
dnssec
trust-anchor=.,${root.ds.split(' ').join(',')}
user=root
group=root
pid-file=
`,
    }),
    command: ['dnsmasq', '--no-daemon', '--conf-file=dnsmasq.conf'],
  },
  {
    name: 'systemd-resolved',
    version: ['/lib/systemd/systemd-resolved', '--version'],
    address: '11.1.1.106',
    files: (root, address) => ({
      'root.positive': `. IN DS ${root.ds}\n`,
      'test.conf': `[Resolve]
DNS=${plainAddress}
Domains=~.
DNSSEC=yes
LLMNR=no
MulticastDNS=no
DNSStubListenerExtra=${address}
`,
      // Drops the rights of root, which a user namespace does not allow.
      'run.sh': `set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/resolved.conf.d /run/systemd/resolve /run/dnssec-trust-anchors.d
cp test.conf /run/systemd/resolved.conf.d/
cp root.positive /run/dnssec-trust-anchors.d/
chmod -R a+rwX /run
export SYSTEMD_LOG_LEVEL=debug
exec unshare --user --map-user=1000 --keep-caps /lib/systemd/systemd-resolved
`,
    }),
    command: ['unshare', '--mount', 'sh', 'run.sh'],
  },
]
