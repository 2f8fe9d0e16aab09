// Checks the routing columns of a bundle: tables of client networks, policies, settings.
import { textOf } from '#bundle/format/bundle.ts'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { Network4Cell, Network6Cell, NetworkCell } from '#bundle/format/client-ranges.ts'
import { slotsOfHostname } from '#bundle/format/hostnames.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { Manifest } from '#bundle/format/manifest.ts'
import { EndpointCell, OnAllDownCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { parsePolicyText, parseRoutingText } from '#bundle/format/routing-text.ts'

/** Checks the values of a list, which are rows of the table that the using table refers to. */
type InRange = (value: number) => boolean

export function checkNetworks(c: BundleColumns, { counts }: Manifest): string | undefined {
  const tables = c.networkTable.length / NetworkCell.Words
  if (tables === 0) return 'there is no table of map rules'
  const endpoints = c.endpointVector.length / EndpointCell.Words
  const isEndpoint: InRange = (value) => value < endpoints
  const fault = checkTable(c, 0, isEndpoint)
  if (fault !== undefined) return fault
  let used = 1
  for (let pool = 0; pool < counts.pools; pool++) {
    const table = c.poolNetworks[pool]!
    if (table === 0) continue
    // In the order of the pools, each with its own table, so that the work is bounded by the size.
    if (table !== ++used || table > tables) return `pool ${pool} has geo rules outside their table`
    const first = c.poolMemberStart[pool]!
    const end = first + c.poolCount4[pool]! + c.poolCount6[pool]!
    const poolFault = checkTable(c, table - 1, (member) => member >= first && member < end)
    if (poolFault !== undefined) return poolFault
  }
  return used === tables ? undefined : 'there are tables of networks that nobody uses'
}

function checkTable(c: BundleColumns, table: number, inRange: InRange): string | undefined {
  const row = table * NetworkCell.Words
  const v4 = { column: c.network4, words: Network4Cell.Words, addressWords: Network4Cell.List }
  const v6 = { column: c.network6, words: Network6Cell.Words, addressWords: Network6Cell.List }
  for (const [cell, { column, words, addressWords }] of [
    [NetworkCell.Start4, v4],
    [NetworkCell.Start6, v6],
  ] as const) {
    const start = c.networkTable[row + cell]!
    const count = c.networkTable[row + cell + 1]!
    if (count === 0) return `network table ${table} is empty`
    if (start !== endOfTable(c, table - 1, cell)) {
      return `network table ${table} does not start where the last one ends`
    }
    if ((start + count) * words > column.length) return `network table ${table} ends outside`
    for (let i = start; i < start + count; i++) {
      const at = i * words
      const isAscending = i === start ? isZero(column, at, addressWords) : rises(column, at, words)
      if (!isAscending) return `network table ${table} is not in order`
      if (!isList(c.networkList, column[at + addressWords]!, inRange)) {
        return `network table ${table} names what is not there`
      }
    }
  }
  return undefined
}

/**
 * @param cell cell of the first row
 * @returns the row after the last one of a family
 */
function endOfTable({ networkTable }: BundleColumns, table: number, cell: number): number {
  const row = table * NetworkCell.Words
  return table < 0 ? 0 : networkTable[row + cell]! + networkTable[row + cell + 1]!
}

function isZero(column: Uint32Array, at: number, words: number): boolean {
  for (let i = at; i < at + words; i++) if (column[i] !== 0) return false
  return true
}

/** Whether the first words of the row exceed those of the row before. */
function rises(column: Uint32Array, at: number, words: number): boolean {
  for (let i = 0; i < words - 1; i++) {
    if (column[at + i]! !== column[at - words + i]!) {
      return column[at + i]! > column[at - words + i]!
    }
  }
  return false
}

function isList(lists: Uint32Array, offset: number, inRange: InRange): boolean {
  const count = lists[offset]
  // A host name counts with all its slots.
  const most = bundleLimits.endpointsPerNetworkMax * slotsOfHostname
  if (count === undefined || count > most) return false
  const end = offset + 1 + count
  if (end > lists.length) return false
  for (let i = offset + 1; i < end; i++) if (!inRange(lists[i]!)) return false
  return true
}

export function checkPolicies(c: BundleColumns, { counts }: Manifest): string | undefined {
  const read = new Set<number>()
  const texts = c.stringOffset.length - 1
  for (let at = 0; at < c.policyRow.length; at += PolicyCell.Words) {
    const policy = at / PolicyCell.Words
    const text = c.policyRow[at + PolicyCell.Text]!
    if (text >= texts) return `policy ${policy} has no text`
    const bytes = c.stringOffset[text + 1]! - c.stringOffset[text]!
    if (bytes > bundleLimits.policyBytesMax) return `policy ${policy} has a text of ${bytes} octets`
    if (!read.has(text) && parsePolicyText(textOf(c, text)) === undefined) {
      return `policy ${policy} is not one that this version can follow`
    }
    read.add(text)
    if (c.policyRow[at + PolicyCell.OnAllDown]! > OnAllDownCode.Pool) {
      return `policy ${policy} does not say what to do when all are down`
    }
    if (c.policyRow[at + PolicyCell.FallbackPool]! > counts.pools) {
      return `policy ${policy} falls back on a pool outside the table`
    }
    const answers = c.policyRow[at + PolicyCell.AnswerCount]!
    if (answers === 0 || answers > bundleLimits.answerCountMax) {
      return `policy ${policy} answers with ${answers} addresses`
    }
  }
  return undefined
}

export function checkRoutingSettings(c: BundleColumns): string | undefined {
  const endpoints = c.endpointVector.length / EndpointCell.Words
  for (let member = 0; member < c.memberEndpoint.length; member++) {
    if (c.memberEndpoint[member]! >= endpoints) return `member ${member} has no such endpoint`
  }
  const text = c.routingSettings[0]
  const texts = c.stringOffset.length - 1
  if (c.routingSettings.length !== 1 || text === undefined || text >= texts) {
    return 'there are no routing settings'
  }
  const settings = parseRoutingText(textOf(c, text))
  if (settings === undefined) return 'the routing settings are not those of this version'
  const isOutside = settings.asnRules.some(({ endpoint }) => endpoint >= endpoints)
  return isOutside ? 'an ASN rule names an endpoint outside the table' : undefined
}
