// What `gitops.url` may be, and the form of it that may be shown.
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export type RemoteUrl =
  | { readonly kind: 'path'; readonly path: string }
  | {
      readonly kind: 'http'
      /** Without credentials: for requests and for people. */
      readonly url: string
      /** Value of the Authorization header; '' without credentials. */
      readonly authorization: string
    }

/**
 * @param authToken wins over credentials in the URL; `user:password`, or a token alone. Errors:
 * sentences.
 */
export function parseRemoteUrl(text: string, authToken: string): Result<RemoteUrl, string> {
  if (isAbsolute(text)) return ok({ kind: 'path', path: text })
  if (/^(?:ssh|git\+ssh):\/\//.test(text) || /^[\w.-]+@[\w.-]+:/.test(text)) {
    return err(
      'gitops.url names an SSH remote, which is not supported. Use the https:// address of ' +
        'the same repository, with a read-only token in GSLB_GITOPS_URL: ' +
        'https://user:token@host/…',
    )
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'file:' && url.host === '')
    return ok({ kind: 'path', path: fileURLToPath(url) })
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    return err(
      'gitops.url must be an https:// or http:// address, or an absolute path of a ' +
        'repository on this machine.',
    )
  }
  const inUrl = `${decoded(url.username)}:${decoded(url.password)}`
  const given = authToken === '' && inUrl !== ':' ? inUrl : authToken
  url.username = ''
  url.password = ''
  url.hash = ''
  return ok({ kind: 'http', url: url.href.replace(/\/+$/, ''), authorization: basic(given) })
}

/** A token may hold a bare `%`, which stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function basic(credentials: string): string {
  if (credentials === '') return ''
  // Forges take a token as the password of any user; GitHub documents this user's name.
  const pair = credentials.includes(':') ? credentials : `x-access-token:${credentials}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
