// Two nodes behind their APIs, one remote over HTTP, and clients that write to both at once: what
// was answered 201 is in Git and in DNS at that moment, and stays.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { gitEnvironment } from '#test/support/git-sandbox.ts'
import { countFrom } from '#test/support/random.ts'
import { contestedNode } from '#test/support/contested-node.ts'
import { assertStraight, contestedRemote } from '#test/support/contested-remote.ts'
import type { ContestedRemote } from '#test/support/contested-remote.ts'
import { poolPath, poolYaml } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

/** Writes to both together. */
const count = countFrom('GSLB_WRITE_COUNT', 200)
/** Requests under way at each node. */
const lanes = 8

const { start, killAll } = useDaemons()
const run = promisify(execFile)

async function startNode(remote: ContestedRemote, name: 'one' | 'two'): Promise<DaemonProcess> {
  const daemon = await start('serve', '--settings', contestedNode(remote, name))
  await waitUntil('the first commit', async () => (await daemon.gitops()).active !== null)
  return daemon
}

const list = async (daemon: DaemonProcess, path: string) =>
  (await callApi<readonly { readonly id: string; readonly name: string }[]>(daemon, 'GET', path))
    .body

const domainOf = (name: string): string => `${name}.example.com.`
const answerOf = (name: string): string => `${domainOf(name)} 60 IN A 192.0.2.1`

/** @throws when what was answered 201 is not in Git and in DNS by then */
async function writeService(
  { gitdir }: ContestedRemote,
  daemon: DaemonProcess,
  name: string,
  poolId: string,
): Promise<void> {
  const service = { name, domain: domainOf(name), poolId }
  const post = () => callApi(daemon, 'POST', '/services', { body: service })
  let { status, headers, body } = await post()
  // On a busy machine the other node may be faster each time. What was refused so was not made: the
  // name is still free.
  while (status === 503) ({ status, headers, body } = await post())
  expect({ status, error: body.error }).toEqual({ status: 201, error: undefined })
  expect(await daemon.answers(`${domainOf(name)} A`)).toEqual([answerOf(name)])
  const revision = String(headers['x-gslb-revision'])
  const env = { PATH: process.env['PATH'], ...gitEnvironment }
  // Rejects unless it is one of the branch's commits.
  await run('git', ['-C', gitdir, 'merge-base', '--is-ancestor', revision, 'main'], { env })
}

test(
  'interleaved writes to two nodes: each 201 is in Git and in DNS, and nothing is lost',
  { timeout: 480_000 + count * 1_000 },
  async () => {
    const remote = await contestedRemote({ [poolPath]: poolYaml('192.0.2.1') })
    // Before the sandbox goes.
    onTestFinished(killAll)
    const daemons = [await startNode(remote, 'one'), await startNode(remote, 'two')]
    const names = Array.from({ length: count }, (_, i) => `s${i}`)
    const rest = names.values()
    const lane = async (daemon: DaemonProcess, poolId: string): Promise<number> => {
      let written = 0
      for (const name of rest) {
        await writeService(remote, daemon, name, poolId)
        written++
      }
      return written
    }
    const shares = await Promise.all(
      daemons.map(async (daemon) => {
        // Readers see a commit a moment after it has become active.
        const poolId = await waitUntil(
          'the pool',
          async () => (await list(daemon, '/pools'))[0]?.id,
        )
        const done = await Promise.all(Array.from({ length: lanes }, () => lane(daemon, poolId)))
        return done.reduce((sum, written) => sum + written, 0)
      }),
    )
    expect(Math.min(...shares), 'both wrote').toBeGreaterThan(0)

    const head = remote.box.git(remote.gitdir, 'rev-parse', 'main')
    for (const daemon of daemons) {
      await waitUntil('the newest commit', async () => (await daemon.gitops()).active === head)
      const listed = async () => (await list(daemon, '/services')).map(({ name }) => name)
      await expect.poll(async () => (await listed()).toSorted()).toEqual(names.toSorted())
      for (const name of names) {
        expect(await daemon.answers(`${domainOf(name)} A`)).toEqual([answerOf(name)])
      }
    }
    expect(assertStraight(remote)).toBeGreaterThan(4)
    remote.box.git(remote.gitdir, 'fsck', '--strict')
  },
)
