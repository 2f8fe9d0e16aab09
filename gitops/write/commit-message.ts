// What a commit of the API says about itself: who asked for what, for people and for `git log`.
import type { Actor, WriteRequest } from './operation.ts'
import { nameOfOperation } from './operation.ts'

const fieldLengthMax = 200

export interface CommitText {
  /** `Name <address>` */
  readonly author: string
  readonly message: string
}

export const committer = 'gslbd <node@gslbd>'

/** One group of trailers for each operation; git-interpret-trailers(1) reads them. */
export function commitText(requests: readonly WriteRequest[]): CommitText {
  const operations = requests.flatMap(({ operations: list }) => list)
  const [first] = operations
  const isOne = operations.length === 1 && first !== undefined
  const subject = isOne ? nameOfOperation(first) : `${operations.length} changes`
  const trailers = requests.flatMap(({ actor, requestId, operations: list }) =>
    list.flatMap((operation) => [
      `Gslb-Operation: ${plain(nameOfOperation(operation))}`,
      `Gslb-Actor: ${identity(actor)}`,
      `Gslb-Request: ${plain(requestId)}`,
    ]),
  )
  const authors = new Set(requests.map(({ actor }) => identity(actor)))
  const [only] = authors
  return {
    author: authors.size === 1 && only !== undefined ? only : committer,
    message: `api: ${plain(subject)}\n\n${trailers.join('\n')}\n`,
  }
}

/** No control characters, and nothing that ends a name or an address early. */
export function identity({ name, address }: Actor): string {
  const clean = (text: string): string => plain(text.replace(/[<>]/g, '')).trim()
  return `${clean(name) || 'unknown'} <${clean(address).replace(/\s/g, '') || 'unknown@gslbd'}>`
}

function plain(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .slice(0, fieldLengthMax)
    .toWellFormed()
}
