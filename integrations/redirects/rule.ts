// A redirect as other servers get it, and the mark by which ours are known among theirs.
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'

export interface PushedRedirect {
  readonly id: string
  /** `svc-redirect-<id>`: what has such a mark there is ours, and nothing else is. */
  readonly mark: string
  /** Lower case, no final dot; of a wildcard, the name below which it answers. */
  readonly host: string
  readonly isWildcard: boolean
  readonly target: string
  readonly code: 301 | 302 | 307 | 308
  readonly preservePath: boolean
}

const markForm = /^svc-redirect-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function isMark(text: unknown): text is string {
  return typeof text === 'string' && markForm.test(text)
}

/** Hosts before wildcards, deep ones first: the order in which the first that fits is right. */
export function pushedOf(models: readonly RedirectModel[]): readonly PushedRedirect[] {
  const pushed = models.map(({ uid, host: name, isWildcard, target, code, preservePath }) => {
    const host = name.replace(/\.$/, '')
    const one = {
      id: uid,
      mark: `svc-redirect-${uid}`,
      host,
      isWildcard,
      target,
      code,
      preservePath,
    }
    return { one, depth: host.split('.').length }
  })
  pushed.sort(
    (a, b) =>
      Number(a.one.isWildcard) - Number(b.one.isWildcard) ||
      b.depth - a.depth ||
      (a.one.host < b.one.host ? -1 : 1),
  )
  return pushed.map(({ one }) => one)
}

/** What the path of a request is appended to. */
export function baseOf({ target, preservePath }: PushedRedirect): string {
  return preservePath ? target.replace(/\/$/, '') : target
}

/** `*.old.example` */
export function patternOf({ host, isWildcard }: PushedRedirect): string {
  return isWildcard ? `*.${host}` : host
}
