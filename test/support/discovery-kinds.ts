// What the tests of kinds of discovery share: a source, its parts, and a server that answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { kindNamed } from '#integrations/discovery/kinds.ts'
import type {
  Ask,
  Asked,
  KindAnswer,
  KindParts,
  SourceSettings,
} from '#integrations/targets/kind.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const sourceSettings: SourceSettings = {
  ...{ name: 'one', type: '', path: '', url: '', user: '', kubeconfig: '', service: '' },
  ...{ intervalMs: 30_000, timeoutMs: 1_000, weightLabel: 'weight' },
  ...{ maxRemoved: 0.5, removeAfterMs: 10_000, tenants: ['default'] },
}

const plainParts: KindParts = {
  ...{ env: {}, resolvers: [], nowMs: () => 0 },
  secret: () => ok(undefined),
  lookup: () => Promise.resolve({ ok: false, fault: 'other' }),
}

export function askOf(
  kind: string,
  source: Partial<SourceSettings>,
  parts: Partial<KindParts> = {},
): Ask {
  return kindNamed(kind)!.create({ ...sourceSettings, ...source }, { ...plainParts, ...parts })
}

export const asked = (service: string, cursor = ''): Asked => ({
  ...{ cursor, service, signal: new AbortController().signal },
})

/** `192.0.2.1:80 weight=3 zone=a`, a line for each target; or the fault. */
export function targetLines(answer: Result<KindAnswer, string>, ...names: string[]): string[] {
  if (!answer.ok) return [answer.error]
  return (answer.value.targets ?? []).map(({ address, port, labels }) => {
    const shown = names.map((name) => `${name}=${labels.get(name)?.join('+') ?? ''}`)
    return [`${address}:${port}`, ...shown].join(' ')
  })
}

interface Seen {
  readonly url: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

interface Said {
  readonly status?: number
  /** Left out: `text` is said. */
  readonly json?: unknown
  readonly text?: string
  /** What follows: 'cut' breaks the connection off, 'silence' leaves it open. Left out: the end. */
  readonly then?: 'cut' | 'silence'
  readonly headers?: Record<string, string>
}

/** @returns its address, what it was asked, and what ends it */
export async function startApi(answer: (seen: Seen) => Said) {
  const requests: Seen[] = []
  const server = createServer(({ url = '', headers }, response) => {
    requests.push({ url, headers })
    const said = answer({ url, headers })
    const { status = 200, json, text = JSON.stringify(json), then, headers: own = {} } = said
    response.writeHead(status, { 'content-type': 'application/json', ...own })
    if (then === undefined) response.end(text)
    else response.write(text, () => then === 'cut' && response.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: () => (server.close(), server.closeAllConnections()),
  }
}
