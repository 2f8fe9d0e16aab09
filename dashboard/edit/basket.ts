// Collects edits for one commit, in this page alone, until they are made or dropped.
import { effect, signal } from '@preact/signals'
import { operations } from '../api/document.ts'
import type { Operation } from '../api/document.ts'
import { me } from '../api/session.ts'
import type { PlannedRequest } from './answers.tsx'
import type { Draft } from '../forms/schema-form.tsx'

export interface Collected extends PlannedRequest {
  readonly title: string
  /** The object when the edit began; null: it did not exist. */
  readonly before: Draft | null
  /** The object after the edit; null: deleted. */
  readonly after: Draft | null
  /** Path to read the object again, for changes of others; empty: there is none. */
  readonly readPath: string
  /** Field of the response with the object; empty: the response is the object. */
  readonly part: string
}

export const basket = signal<readonly Collected[]>([])

const commits = 'POST /api/v1/commits'

/** Whether an edit can be collected: the API takes it as one of several. */
export function mayCollect({ isConfigWrite }: Operation): boolean {
  return isConfigWrite && operations.value?.has(commits) === true
}

export function collectedMax(): number {
  const { requests } = operations.value?.get(commits)?.body?.properties ?? {}
  return requests?.maxItems ?? 1
}

/** Another edit of an object replaces the first; creations are all kept. */
export function collect(edit: Collected): void {
  const before = basket.value.find((one) => isSame(one, edit))
  if (before === undefined) basket.value = [...basket.value, edit]
  else replace(before, edit)
}

export function collectedFor(method: string, path: string): Collected | undefined {
  return basket.value.find((one) => isSame(one, { method, path }))
}

function isSame(one: PlannedRequest, other: PlannedRequest): boolean {
  return one.path === other.path && one.method === other.method && one.method !== 'POST'
}

export function drop(edit: Collected): void {
  basket.value = basket.value.filter((one) => one !== edit)
}

export function replace(edit: Collected, by: Collected): void {
  basket.value = basket.value.map((one) => (one === edit ? by : one))
}

export const requestOf = ({ method, path, body, ifMatch = '' }: Collected): PlannedRequest => ({
  ...{ method, path },
  ...(body === undefined ? {} : { body }),
  ...(ifMatch === '' ? {} : { ifMatch }),
})

let owner: string | null = null
effect(() => {
  const who = me.value
  if (who === undefined) return
  const name = who === null ? null : `${who.tenantId} ${who.email ?? who.kind}`
  // Edits of one user are dropped when another signs in.
  if (name !== owner && owner !== null) basket.value = []
  owner = name
})

const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
effect(() => {
  if (basket.value.length > 0) addEventListener('beforeunload', ask)
  else removeEventListener('beforeunload', ask)
})
