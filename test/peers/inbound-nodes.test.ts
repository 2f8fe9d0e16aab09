// Two control nodes on one remote take in a zone of PowerDNS: each serial is one commit, and both
// are current.
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { contestedNode } from '#test/support/contested-node.ts'
import { assertStraight, contestedRemote } from '#test/support/contested-remote.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { PrimaryServer } from '#test/support/dns/primary.ts'
import { freePort } from '#test/support/free-port.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { settingsYaml } from '#test/support/write-scene.ts'

const { start } = useDaemons()
const zone = 'moved.example.'

interface Shown {
  readonly state: string
  readonly serial: number | null
  readonly error: string
}

async function areCurrent(nodes: readonly DaemonProcess[], serial: number): Promise<void> {
  for (const node of nodes) {
    let now: Shown | undefined
    const is = async (): Promise<boolean> => {
      const { status, body } = await callApi<readonly Shown[]>(node, 'GET', '/zone-transfers')
      now = status === 200 ? body[0] : undefined
      return now?.state === 'current' && now.serial === serial && now.error === ''
    }
    await waitUntil(`serial ${serial}`, is, { timeoutMs: 20_000 }).catch(() => {
      throw new Error(`serial ${serial} is not current: ${JSON.stringify(now)}`)
    })
  }
}

test('both take it in at once, and neither stays behind', async () => {
  const port = await freePort()
  const from = `from: { primaries: ["127.0.0.1:${port}"] }`
  const moved = `    - { name: ${zone}, nameservers: [{ name: ns1.${zone} }], ${from} }\n`
  const remote = await contestedRemote({
    'gslb.yaml': settingsYaml.replace('  zones:\n', `  zones:\n${moved}`),
  })
  onTestFinished(() => remote.server.close())
  const nodes = await Promise.all(
    (['one', 'two'] as const).map((name) =>
      start('serve', '--settings', contestedNode(remote, name)),
    ),
  )
  const primary = new PrimaryServer('powerdns', {
    ...{ zone, port, notified: nodes[0]!.dnsPort, records: [`www.${zone} 300 IN A 192.0.2.80`] },
    key: { name: 'unused.', secret: '' },
  })
  onTestFinished(async () => {
    await primary.stop()
    primary.remove()
  })
  primary.start()
  await areCurrent(nodes, 1)
  await primary.add(`new.${zone} 300 IN A 192.0.2.81`)
  await areCurrent(nodes, 2)
  for (const node of nodes) {
    const answers = await node.answers(`new.${zone} A`)
    expect(answers).toEqual([`new.${zone} 300 IN A 192.0.2.81`])
  }
  assertStraight(remote)
  const subjects = remote.box.git(remote.gitdir, 'log', '--format=%s', 'main').split('\n')
  const taken = subjects.filter((subject) => subject.includes('by zone transfer'))
  expect(taken).toEqual([2, 1].map((serial) => `${zone} by zone transfer: serial ${serial}`))
}, 90_000)
