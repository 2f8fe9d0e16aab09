// Validates `gitops.url`, and strips its credentials for display.
import { unescapedPercent } from '#lib/text/percent.ts'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

type RemoteUrl =
  | { readonly kind: 'path'; readonly path: string }
  | {
      readonly kind: 'http'
      /** Address without credentials, for requests and for people. */
      readonly url: string
      /** `user:password`, or ''. */
      readonly credentials: string
    }
  /** `ssh://git@host:port/path` or `git@host:path`, without a password. */
  | { readonly kind: 'ssh'; readonly url: string }

/**
 * @param authToken `user:password` or a token alone; it overrides credentials in the URL. Errors:
 * sentences.
 */
export function parseRemoteUrl(text: string, authToken: string): Result<RemoteUrl, string> {
  if (isAbsolute(text)) return ok({ kind: 'path', path: text })
  if (isSshUrl(text)) return ok({ kind: 'ssh', url: text })
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'file:' && url.host === '')
    return ok({ kind: 'path', path: fileURLToPath(url) })
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    return err(
      'gitops.url must be an https://, http:// or ssh:// address, git@host:path, or an ' +
        'absolute path of a repository on this machine. An ssh:// address has no password.',
    )
  }
  const inUrl = `${decoded(url.username)}:${decoded(url.password)}`
  const given = authToken === '' && inUrl !== ':' ? inUrl : authToken
  url.username = ''
  url.password = ''
  url.hash = ''
  return ok({ kind: 'http', url: url.href.replace(/\/+$/, ''), credentials: pairOf(given) })
}

const user = '[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}'
const host = '(?:[A-Za-z0-9][A-Za-z0-9.-]{0,253}|\\[[0-9A-Fa-f:.]{2,45}\\])'
/** Printable characters only: none may end a line or steer a terminal. */
const path = '[\\x21-\\x7e]{1,1000}'
const sshUrl = new RegExp(`^ssh://(?:${user}@)?${host}(?::[0-9]{1,5})?/${path}$`)
const scpUrl = new RegExp(`^${user}@${host}:(?!-|\\/\\/)${path}$`)

/** Whether ssh(1) and git take it as an address. No part of it can be taken for an option. */
export function isSshUrl(text: string): boolean {
  return sshUrl.test(text) || (!text.includes('://') && scpUrl.test(text))
}

/** Decodes percent escapes. A token may hold a bare `%`, which stands for itself. */
const decoded = (text: string): string => unescapedPercent(text) ?? text

function pairOf(credentials: string): string {
  if (credentials === '' || credentials.indexOf(':') > 0) return credentials
  // Forges accept a token as the password of any user, but git sends no token without a user.
  // GitHub documents this user name.
  return `x-access-token:${credentials.replace(/^:/, '')}`
}
