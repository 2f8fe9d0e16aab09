// A private unbound that answers from a test's records, and resolves nothing else.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from './dns/client.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'

const host = '127.0.0.1'

interface Stub {
  readonly zone: string
  /** As in `127.0.0.3@5353`. */
  readonly server: string
}

/**
 * @param records as in `lb.example.net. 5 IN A 192.0.2.1`, all of `example.net.`
 * @param stubs zones
 * resolved at these servers @returns a function that ends it
 */
export async function startUnbound(
  port: number,
  records: readonly string[],
  stubs: readonly Stub[] = [],
): Promise<() => Promise<void>> {
  const directory = makeTempDir('unbound')
  const file = join(directory, 'unbound.conf')
  const stubText = stubs
    .map(({ zone, server }) => `stub-zone:\n  name: "${zone}"\n  stub-addr: ${server}\n`)
    .join('')
  const data = records.map((record) => `  local-data: "${record}"\n`).join('')
  writeFileSync(
    file,
    `server:
  directory: "${directory}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  logfile: ""
  verbosity: 0
  do-daemonize: no
  interface: ${host}@${port}
  access-control: 127.0.0.0/8 allow
  num-threads: 1
  local-zone: "example.net." static
  local-zone: "test." nodefault
  do-not-query-localhost: no
  module-config: "iterator"
${data}remote-control:
  control-enable: no
${stubText}`,
  )
  const child = spawn('unbound', ['-d', '-c', file], {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
  })
  const ended = once(child, 'close')
  await waitUntil('unbound to answer', () =>
    ask({ host, port }, 'example.net. SOA').then(
      () => true,
      () => false,
    ),
  )
  return async () => {
    child.kill('SIGKILL')
    await ended
    removeTempDir(directory)
  }
}
