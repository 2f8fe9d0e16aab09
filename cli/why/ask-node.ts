// Asks a running node about its past over its API, instead of reading its files.
import { plain } from '#cli/terminal/paint.ts'
import type { NodeApi } from '#cli/watch/node-api.ts'
import { fieldsOf, rowsOf } from '#lib/text/json.ts'
import { CommandFault, Exit } from '#system/process/command.ts'

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

/**
 * @returns the answer, with `text` for people
 *
 * @throws CommandFault
 */
export async function askNode(api: NodeApi, asked: AskedPast): Promise<NodeAnswer> {
  const answer = await api.post('/api/v1/why', { body: asked, patienceMs })
  if (answer.ok) return readExplanation(api.url, answer.value)
  const { status, message } = answer.error
  const advice = status === 400 && asked.node !== undefined ? await whereToAsk(api, asked.node) : ''
  throw new CommandFault(Exit.ErrorsFound, `${message}${advice}`)
}

export interface NodeAnswer {
  /** Lines for a terminal. */
  readonly text: string
  readonly shown: object
}

function readExplanation(url: string, value: unknown): NodeAnswer {
  const { text, ...shown } = fieldsOf(value)
  if (typeof text !== 'string') {
    const what = 'gives no explanation: is it the API of gslbd, of this version?'
    throw new CommandFault(Exit.ErrorsFound, `${url}/api/v1/why ${what}`)
  }
  // Control characters in names and subjects of the server are replaced.
  return { text: text.split('\n').map(plain).join('\n'), shown }
}

/** A clause that tells whether there is such a node, and how to ask it. */
async function whereToAsk(api: NodeApi, node: string): Promise<string> {
  const listed = await api.json('/api/v1/cluster/nodes')
  const rows = listed.ok ? rowsOf(listed.value) : []
  const names = rows.map(({ name }) => name).filter((name) => typeof name === 'string')
  return names.length === 0 || names.includes(node)
    ? `; if ${plain(node)} answers DNS and has an API, give --url the address of that`
    : `; the nodes that ${api.url} knows are ${names.map(plain).join(', ')}`
}
