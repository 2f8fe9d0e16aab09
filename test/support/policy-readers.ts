// Third-party resolvers with a response policy zone, started for a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from './dns/client.ts'
import { freePort } from './free-port.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'

interface ReaderParts {
  /** A folder of its own. */
  readonly directory: string
  /** Port on 127.0.0.1 to answer at. */
  readonly port: number
  /** The policy zone `rpz.test.`. */
  readonly policy: string
  /** Port on 127.0.0.1 of the server for names below `example.`. */
  readonly upstreamPort: number
}

/** A program, and how to configure its policy and its server. */
interface PolicyReader {
  readonly name: string
  /** False: alias rules are not followed. */
  readonly takesAliases: boolean
  /** Writes the program's files. @returns the command */
  readonly prepare: (parts: ReaderParts) => readonly string[]
}

export const policyReaders: readonly PolicyReader[] = [
  {
    name: 'BIND',
    takesAliases: true,
    prepare({ directory, port, policy, upstreamPort }) {
      const file = join(directory, 'named.conf')
      writeFileSync(
        file,
        `options {
  directory "${directory}"; pid-file none; session-keyfile none;
  managed-keys-directory "${directory}";
  forward only; forwarders { 127.0.0.1 port ${upstreamPort}; };
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  allow-query { any; }; recursion yes; dnssec-validation no; empty-zones-enable no;
  response-policy { zone "rpz.test"; };
};
controls { };
zone "rpz.test" { type primary; file "${policy}"; };
`,
      )
      return ['named', '-f', '-c', file]
    },
  },
  {
    name: 'unbound',
    takesAliases: true,
    prepare({ directory, port, policy, upstreamPort }) {
      const file = join(directory, 'unbound.conf')
      writeFileSync(
        file,
        `server:
  directory: "${directory}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  interface: 127.0.0.1@${port}
  num-threads: 1
  do-not-query-localhost: no
  module-config: "respip iterator"
rpz:
  name: rpz.test
  zonefile: "${policy}"
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstreamPort}
remote-control:
  control-enable: no
`,
      )
      return ['unbound', '-d', '-c', file]
    },
  },
  {
    name: 'PowerDNS Recursor',
    takesAliases: true,
    prepare({ directory, port, policy, upstreamPort }) {
      writeFileSync(join(directory, 'policy.lua'), `rpzFile("${policy}", {})\n`)
      writeFileSync(
        join(directory, 'recursor.conf'),
        `local-address=127.0.0.1:${port}
hint-file=no
forward-zones=.=127.0.0.1:${upstreamPort}
lua-config-file=${join(directory, 'policy.lua')}
socket-dir=${directory}
write-pid=no
daemon=no
disable-syslog=yes
security-poll-suffix=
dnssec=off
threads=1
`,
      )
      return ['pdns_recursor', `--config-dir=${directory}`]
    },
  },
  {
    name: 'Knot Resolver',
    takesAliases: false,
    prepare({ directory, port, policy, upstreamPort }) {
      const file = join(directory, 'kresd.conf')
      writeFileSync(
        file,
        `net.listen('127.0.0.1', ${port}, { kind = 'dns' })
cache.size = 10 * MB
trust_anchors.remove('.')
modules = { 'policy', 'hints' }
modules.unload('priming')
-- Where nobody is: what passes a rule goes to the roots, whatever the line of STUB says.
hints.root({ ['root.test.'] = '127.0.0.1' })
policy.add(policy.rpz(policy.DENY, '${policy}', false))
policy.add(policy.suffix(policy.STUB('127.0.0.1@${upstreamPort}'), policy.todnames({ 'example.' })))
`,
      )
      return ['kresd', '-n', '-c', file, directory]
    },
  },
]

export interface StartedReader {
  readonly port: number
  readonly end: () => Promise<void>
}

/** @param policy the text of the policy zone */
export async function startReader(
  { name, prepare }: PolicyReader,
  policy: string,
  upstreamPort: number,
): Promise<StartedReader> {
  const directory = makeTempDir('policy-reader')
  const file = join(directory, 'policy.zone')
  writeFileSync(file, policy)
  const port = await freePort()
  const [program, ...args] = prepare({ directory, port, policy: file, upstreamPort })
  const child = spawn(program!, args, {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
  })
  const ended = once(child, 'close')
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    removeTempDir(directory)
  }
  await waitUntil(`${name} to follow the policy`, () =>
    ask({ host: '127.0.0.1', port }, 'probe.example. A', { rd: true }).then(
      ({ rcode }) => rcode === 3,
      () => false,
    ),
  )
  return { port, end }
}
