// Changes an object as it was read and no other: entity tags, If-Match and If-None-Match.
import type { Answer, Client } from './calls.ts'
import type {
  AnswerOf,
  BodyOf,
  Common,
  ParamsOf,
  PatchedPath,
  PathOf,
  QueryOf,
} from './operations.ts'
import { ChangedMeanwhile } from './problem.ts'

export interface UpdateOptions<P extends PatchedPath> extends Pick<
  Common,
  'signal' | 'subject' | 'override'
> {
  readonly params: ParamsOf<'patch', P>
  readonly query?: QueryOf<'patch', P>
  /** How often to read and write, while others change it, too. */
  readonly tries?: number
}

const triesOfUpdate = 5

/**
 * Reads an object, and changes what `change` says of it, by a merge patch. Where somebody else was
 * faster, it is read again and `change` is asked again.
 *
 * @param change fields to write; undefined: none, the object is right as it is
 *
 * @returns the object as it is now
 *
 * @throws ChangedMeanwhile after `tries`
 */
export async function update<P extends PatchedPath>(
  client: Client,
  path: P,
  { params, query, signal, tries = triesOfUpdate, ...words }: UpdateOptions<P>,
  change: (now: AnswerOf<'get', P>) => BodyOf<'patch', P> | undefined,
): Promise<Answer<AnswerOf<'get', P>>> {
  const get = client.get as Plain<AnswerOf<'get', P>>
  const patch = client.patch as Plain<AnswerOf<'get', P>>
  for (let count = 1; ; count++) {
    const read = await get(path, { params, signal })
    const body = change(read.body)
    if (body === undefined) return read
    try {
      return await patch(path, { params, query, signal, ...words, body, ifMatch: read.etag })
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || count >= tries) throw error
    }
  }
}

type Plain<Body> = (path: string, given: object) => Promise<Answer<Body>>

/**
 * Reads what has changed.
 *
 * @param etag from the answer before
 *
 * @returns undefined: it is as it was
 */
export async function readIfChanged<P extends PathOf<'get'>>(
  client: Client,
  path: P,
  etag: string,
  given: Pick<Common, 'signal'> & { readonly params?: ParamsOf<'get', P> } = {},
): Promise<Answer<AnswerOf<'get', P>> | undefined> {
  const get = client.get as Plain<AnswerOf<'get', P>>
  const answer = await get(path, { ...given, ifNoneMatch: etag })
  return answer.status === 304 || answer.etag === etag ? undefined : answer
}
