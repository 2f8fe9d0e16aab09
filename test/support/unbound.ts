// A private unbound that answers from the records of a test, and resolves nothing else.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from './dns/client.ts'
import { tempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'

const host = '127.0.0.1'

/**
 * @param records as in `lb.example.net. 5 IN A 192.0.2.1`, all of `example.net.`
 * @returns what ends it
 */
export async function startUnbound(
  port: number,
  records: readonly string[],
): Promise<() => Promise<void>> {
  const directory = tempDir('unbound')
  const file = join(directory, 'unbound.conf')
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
${data}remote-control:
  control-enable: no
`,
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
  }
}
