// Checks redirects and their index, so that serving them needs no checks.
import { hashNameAt } from '#dns/name.ts'
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
  const rows = counts.redirects
  const index = c.redirectIndex
  const slots = (index.length - redirectTrailer) / 2
  if (slots < 0) return 'the index of redirects has no seed'
  if (rows === 0) return slots === 0 ? undefined : 'there is an index of no redirects'
  const mask = slots - 1
  // More slots than rules: a probe ends at a free one.
  if ((slots & mask) !== 0 || slots <= rows) return 'the index of redirects has a wrong size'
  let used = 0
  for (let slot = 0; slot < slots; slot++) {
    const row = index[slot * 2 + 1]!
    if (row > rows) return `slot ${slot} of the index of redirects points outside its table`
    if (row !== 0) used++
  }
  if (used !== rows) return 'the index holds a redirect twice or not at all'
  let wildcards = 0
  for (let row = 0; row < rows; row++) {
    const at = row * RedirectCell.Words
    if ((c.redirectRow[at + RedirectCell.Bits]! & RedirectBits.Wildcard) !== 0) wildcards++
    const hash = hashNameAt(
      c.redirectText,
      c.redirectRow[at + RedirectCell.Host]!,
      index[slots * 2]!,
    )
    let slot = hash & mask
    for (let probes = 0; index[slot * 2 + 1] !== row + 1; probes++) {
      if (probes >= bundleLimits.probeLengthMax) return `redirect ${row} is not in the index`
      slot = (slot + 1) & mask
    }
    if (index[slot * 2] !== hash >>> 0) return `redirect ${row} has another hash`
  }
  return wildcards === index[slots * 2 + 1] ? undefined : 'there are other wildcard redirects'
}
