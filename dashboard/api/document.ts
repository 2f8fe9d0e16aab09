// Reads the API's OpenAPI document: resources, operations, the schemas of bodies.
import { signal } from '@preact/signals'
import { send, sentence } from './client.ts'
import type { Schema } from './schema.ts'

interface Parameter {
  readonly name: string
  readonly in: string
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  /** A permission, or `public`, `any`, `session`, `system`. */
  readonly needs: string
  /** The licensed feature that it needs; empty: none. */
  readonly licensed: string
  readonly takesDryRun: boolean
  /** True: it changes an object with a tag, so it can be one of several in a commit. */
  readonly isConfigWrite: boolean
  readonly takesSubject: boolean
  /** Body of the request; undefined: it has none. */
  readonly body: Schema | undefined
  readonly answer: Schema | undefined
}

interface RawOperation {
  readonly summary: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>
  >
  readonly 'x-permission': string
  readonly 'x-licensed-feature'?: string
}

/** By `METHOD path`. */
export type Operations = ReadonlyMap<string, Operation>

export const operations = signal<Operations | null>(null)
/** Why the document could not be read; empty: it was, or is loading. */
export const documentFault = signal('')

/** Called at the start: the first screens need no document, others explain its absence. */
export async function learnDocument(): Promise<void> {
  documentFault.value = ''
  await readDocument().catch((error: unknown) => (documentFault.value = sentence(error)))
}

export async function readDocument(): Promise<Operations> {
  if (operations.value !== null) return operations.value
  const { body } = await send('/api/v1/openapi.json')
  const found = operationsOf(body as { paths: Record<string, Record<string, RawOperation>> })
  operations.value = found
  return found
}

function operationsOf({
  paths,
}: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
}): Operations {
  const found = new Map<string, Operation>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [name, raw] of Object.entries(methods)) {
      const method = name.toUpperCase()
      found.set(`${method} ${path}`, operationOf(method, path, raw))
    }
  }
  return found
}

function operationOf(method: string, path: string, raw: RawOperation): Operation {
  const { summary, description = '', tags = [], parameters = [], requestBody, responses } = raw
  const has = (wanted: string): boolean => parameters.some(({ name }) => name === wanted)
  const contents = requestBody?.content ?? {}
  const good = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  return {
    ...{ method, path, summary, description, tag: tags[0] ?? '', needs: raw['x-permission'] },
    licensed: raw['x-licensed-feature'] ?? '',
    takesDryRun: has('dryRun'),
    isConfigWrite: has('X-Gslb-Override'),
    takesSubject: has('X-Gslb-Subject'),
    body: (contents['application/json'] ?? Object.values(contents)[0])?.schema,
    answer: good?.content?.['application/json']?.schema,
  }
}
