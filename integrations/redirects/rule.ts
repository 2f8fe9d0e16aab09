// Defines a redirect as other servers get it, and the mark that identifies ours among theirs.
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'

export interface PushedRedirect {
  readonly id: string
  /** `svc-redirect-<id>`: whatever has such a mark is ours, and nothing else. */
  readonly mark: string
  /** In lower case without final dot; for a wildcard, the name above it. */
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

/** Hosts before wildcards, deep ones first, so that the first match is right. */
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

/** The part before the request's path. */
export function baseOf({ target, preservePath }: PushedRedirect): string {
  return preservePath ? target.replace(/\/$/, '') : target
}

/** The host, or `*.old.example`. */
export function patternOf({ host, isWildcard }: PushedRedirect): string {
  return isWildcard ? `*.${host}` : host
}
