// Checks redirects and their index, so that serving them needs no checks.
import { faultOfIndex } from '#bundle/format/hash-index.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { Manifest } from '#bundle/format/manifest.ts'
import {
  RedirectBits,
  RedirectCell,
  redirectCodeOf,
  redirectTrailer,
} from '#bundle/redirects/redirect-table.ts'
import type { RedirectColumns } from '#bundle/redirects/redirect-table.ts'
import { isFoldedName } from './check-response.ts'

type Columns = Omit<RedirectColumns, 'redirectUid'>

export function checkRedirectRows(c: Columns, { counts }: Manifest): string | undefined {
  const bytes = c.redirectText.length
  for (let row = 0; row < counts.redirects; row++) {
    const at = row * RedirectCell.Words
    const bits = c.redirectRow[at + RedirectCell.Bits]!
    const hostBytes = bits & RedirectBits.HostMask
    if (bits >>> RedirectBits.CodeShift >= redirectCodeOf.length) {
      return `redirect ${row} has no such status`
    }
    if (!isFoldedName(c.redirectText, c.redirectRow[at + RedirectCell.Host]!, hostBytes)) {
      return `redirect ${row} has no host`
    }
    const target = c.redirectRow[at + RedirectCell.Target]!
    const targetBytes = c.redirectRow[at + RedirectCell.TargetBytes]!
    if (targetBytes > bundleLimits.redirectTargetBytesMax || target + targetBytes > bytes) {
      return `redirect ${row} has no target`
    }
    // The target is sent in a header unchanged.
    if (!isHttpAddress(c.redirectText, target, targetBytes)) {
      return `redirect ${row} has a target that is no address`
    }
    const tenantEnd =
      c.redirectRow[at + RedirectCell.Tenant]! + c.redirectRow[at + RedirectCell.TenantBytes]!
    if (tenantEnd > bytes) return `redirect ${row} has no tenant`
    if (c.redirectRow[at + RedirectCell.HstsSeconds]! > bundleLimits.hstsSecondsMax) {
      return `redirect ${row} is remembered for too long`
    }
  }
  return undefined
}

const schemes = ['http://', 'https://'].map((text) => Buffer.from(text))

function isHttpAddress(texts: Uint8Array, start: number, length: number): boolean {
  const hasScheme = schemes.some(
    (scheme) => length > scheme.length && scheme.every((octet, i) => texts[start + i] === octet),
  )
  if (!hasScheme) return false
  for (let at = start; at < start + length; at++) {
    if (texts[at]! <= 0x20 || texts[at]! >= 0x7f) return false
  }
  return true
}

export function checkRedirectIndex(c: Columns, { counts }: Manifest): string | undefined {
  const { redirectText: names, redirectRow: rows } = c
  const end = c.redirectIndex.length - redirectTrailer
  if (end < 0) return 'the index of redirects has no seed'
  if (rows.length === 0) return end === 0 ? undefined : 'there is an index of no redirects'
  const [seed, wildcards] = c.redirectIndex.subarray(end)
  const { Words: words, Host: cell } = RedirectCell
  const hosts = { names, rows, words, cell }
  const index = c.redirectIndex.subarray(0, end)
  const fault = faultOfIndex(index, hosts, seed!, 'the index of redirects', 'redirect')
  if (fault !== undefined) return fault
  let counted = 0
  for (let row = 0; row < counts.redirects; row++) {
    const bits = rows[row * RedirectCell.Words + RedirectCell.Bits]!
    if ((bits & RedirectBits.Wildcard) !== 0) counted++
  }
  return counted === wildcards ? undefined : 'there are other wildcard redirects'
}
