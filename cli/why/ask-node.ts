// Asks a running node about its past over its API, instead of reading its files.
import { plain } from '#cli/terminal/paint.ts'
import type { NodeApi } from '#cli/watch/node-api.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** A node may have to compile an old commit again. */
const patienceMs = 90_000

/** The body of POST /api/v1/why. */
interface AskedPast {
  readonly name: string
  readonly type: string
  readonly subnet?: string
  readonly at: string
  readonly node?: string
}

/** @returns the answer, with `text` for people. Errors: a sentence */
export async function askNode(api: NodeApi, asked: AskedPast): Promise<Result<NodeAnswer, string>> {
  const told = await api.post('/api/v1/why', { body: asked, patienceMs })
  if (told.ok) return readExplanation(api.url, told.value)
  const { status, message } = told.error
  if (status !== 400 || asked.node === undefined) return err(message)
  return err(`${message}${await whereToAsk(api, asked.node)}`)
}

export interface NodeAnswer {
  /** Lines for a terminal. */
  readonly text: string
  readonly shown: object
}

function readExplanation(url: string, value: unknown): Result<NodeAnswer, string> {
  const isObject = typeof value === 'object' && value !== null && 'text' in value
  if (!isObject || typeof value.text !== 'string') {
    return err(`${url}/api/v1/why gives no explanation: is it the API of gslbd, of this version?`)
  }
  const { text, ...shown } = value
  // Control characters in names and subjects of the server are replaced.
  return ok({ text: text.split('\n').map(plain).join('\n'), shown })
}

/** A clause that tells whether there is such a node, and how to ask it. */
async function whereToAsk(api: NodeApi, node: string): Promise<string> {
  const listed = await api.json('/api/v1/cluster/nodes')
  const names = listed.ok ? namesIn(listed.value) : []
  return names.length === 0 || names.includes(node)
    ? `; if ${plain(node)} answers DNS and has an API, give --url the address of that`
    : `; the nodes that ${api.url} knows are ${names.map(plain).join(', ')}`
}

function namesIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return (value as readonly ({ readonly name?: unknown } | null)[]).flatMap((node) =>
    typeof node?.name === 'string' ? [node.name] : [],
  )
}
