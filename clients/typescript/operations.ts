// Says which paths, parameters, bodies and answers the API's document permits.
import type { paths } from './openapi.d.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Paths that have the method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: M extends keyof paths[P] ? P : never
}[keyof paths]

interface Described {
  readonly params: object
  readonly query: object
  readonly body: unknown
  readonly answer: unknown
}

type Operation<M extends Method, P extends keyof paths> = M extends keyof paths[P]
  ? paths[P][M] extends Described
    ? paths[P][M]
    : never
  : never

export type ParamsOf<M extends Method, P extends keyof paths> = Operation<M, P>['params']
export type QueryOf<M extends Method, P extends keyof paths> = Operation<M, P>['query']
export type BodyOf<M extends Method, P extends keyof paths> = Operation<M, P>['body']
export type AnswerOf<M extends Method, P extends keyof paths> = Operation<M, P>['answer']

/** Fields that any request may have. */
export interface Common {
  readonly signal?: AbortSignal
  /** Entity tag of what was read: without a match nothing is done (412). */
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
  /** Subject of the commit, in your words. */
  readonly subject?: string
  /** Why more may change than the guardrails permit. */
  readonly override?: string
  /** Whether to send it again after a 429 or 503; left out: as the method permits. */
  readonly isRepeatable?: boolean
}

type NeedsParams<Params> =
  Params extends Record<string, never> ? { readonly params?: Params } : { readonly params: Params }
type NeedsBody<Body> = undefined extends Body
  ? { readonly body?: undefined }
  : { readonly body: Body }

export type Given<M extends Method, P extends keyof paths> = Common &
  NeedsParams<ParamsOf<M, P>> &
  NeedsBody<BodyOf<M, P>> & { readonly query?: QueryOf<M, P> }

/** The last argument may be left out where nothing is needed. */
export type Arguments<M extends Method, P extends keyof paths> =
  object extends Given<M, P> ? [given?: Given<M, P>] : [given: Given<M, P>]

/** Lists that are given in pages: their paths take a `cursor`. */
export type PagedPath = {
  [P in PathOf<'get'>]: QueryOf<'get', P> extends { cursor?: string }
    ? QueryOf<'get', P> extends Record<string, never>
      ? never
      : P
    : never
}[PathOf<'get'>]

/** Paths of objects that are read with an entity tag, and changed by a merge patch. */
export type PatchedPath = PathOf<'get'> & PathOf<'patch'>
