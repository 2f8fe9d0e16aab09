// Defines the credentials of nodes: the token that signs a node's reports, and the list with its
// key.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { labelKeyPattern, labelValuePattern, nodeNamePattern, reportLimits } from './node-report.ts'
import type { NodeReport } from './node-report.ts'

/** A node that a control node knows. */
export interface ListedNode {
  readonly name: string
  /** Labels for waves; those in the node's own report are ignored. */
  readonly labels: Readonly<Record<string, string>>
  /** Whichever signs: beside that of its token, that of the token before, until it is forgotten. */
  readonly keys: readonly KeyObject[]
}

export const credentialLimits = {
  /** As many as an inventory has room for. */
  nodesMax: 10_000,
  fileBytesMax: 8 * 1024 * 1024,
  /** A recorded report is useless after so long; clocks may differ by less. */
  ageMsMax: 300_000,
} as const

/** The form of a token. It signs as its node, so it is a secret; the list has its public half. */
const tokenForm = /^gslbn_([A-Za-z0-9_-]{43})$/
const keyForm = /^ed25519:([A-Za-z0-9_-]{43})$/
const nameForm = new RegExp(nodeNamePattern)
const labelKeyForm = new RegExp(labelKeyPattern)
const labelValueForm = new RegExp(labelValuePattern)
/** RFC 8410: the octets before the 32 octets of a key. */
const [privatePrefix, publicPrefix] = [
  Buffer.from('302e020100300506032b657004220420', 'hex'),
  Buffer.from('302a300506032b6570032100', 'hex'),
]
const domain = 'gslb/node-report/v1\0'
/** That of its token, and that of the one before. */
const keysMax = 2

/** @returns the token, and the key for the list */
export function newNodeToken(): { readonly token: string; readonly listed: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32)
  const half = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  return {
    token: `gslbn_${seed.toString('base64url')}`,
    listed: `ed25519:${half.toString('base64url')}`,
  }
}

/** @returns undefined: it is no token */
export function keyOfToken(token: string): KeyObject | undefined {
  const seed = tokenForm.exec(token)?.[1]
  if (seed === undefined) return undefined
  const der = Buffer.concat([privatePrefix, Buffer.from(seed, 'base64url')])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

/** The report as it is sent. Older versions leave the signature out. */
export function signedReport(report: NodeReport, key: KeyObject | null): object {
  if (key === null) return report
  const signature = sign(null, signedBytes(report), key).toString('base64')
  return { ...report, signature }
}

/**
 * @param sent as it arrived, with its signature
 *
 * @param report the same, parsed
 * @returns whether that node signed it recently
 */
export function isSignedBy(
  { name, keys }: ListedNode,
  sent: unknown,
  report: NodeReport,
  nowMs: number,
): boolean {
  const { signature, ...rest } = sent as { readonly signature?: unknown }
  if (report.name !== name || typeof signature !== 'string' || signature.length !== 88) return false
  if (Math.abs(report.sentAtMs - nowMs) > credentialLimits.ageMsMax) return false
  const [bytes, octets] = [signedBytes(rest), Buffer.from(signature, 'base64')]
  return keys.some((key) => verify(null, bytes, key, octets))
}

/** Says why a report counts nowhere. @param offsetMs how far the clock of its node is ahead */
export function uncountedLine(offsetMs: number): string {
  if (Math.abs(offsetMs) <= credentialLimits.ageMsMax) {
    return (
      'a node tells of itself that is not listed, or has not signed it: it counts nowhere; ' +
      '"gslbd node add" makes its credential'
    )
  }
  const seconds = Math.round(Math.abs(offsetMs) / 1_000)
  return (
    `a node tells of itself by a clock that is ${seconds} s ` +
    `${offsetMs < 0 ? 'behind' : 'ahead of'} the one here: what it signs is not believed, so it ` +
    'counts nowhere; look at time synchronization here and there'
  )
}

/** JSON keeps the order of fields. */
const signedBytes = (report: object): Buffer => Buffer.from(domain + JSON.stringify(report))

/** Parses lines `NAME KEY[,KEY] label=value …`, except comments after `#`. Errors name the line. */
export function readNodeList(text: string): Result<ReadonlyMap<string, ListedNode>, string> {
  const nodes = new Map<string, ListedNode>()
  for (const [i, line] of text.split('\n').entries()) {
    const words = line.trim()
    if (words === '' || words.startsWith('#')) continue
    const node = nodeOf(words.split(/\s+/))
    if (!node.ok) return err(`line ${i + 1}: ${node.error}`)
    const { name } = node.value
    if (nodes.has(name)) return err(`line ${i + 1}: ${name} is there twice`)
    if (nodes.size === credentialLimits.nodesMax) return err(`line ${i + 1}: too many nodes`)
    nodes.set(name, node.value)
  }
  return ok(nodes)
}

function nodeOf([name = '', word = '', ...rest]: readonly string[]): Result<ListedNode, string> {
  if (!nameForm.test(name)) return err('it does not begin with the name of a node')
  const halves = word.split(',').map((key) => keyForm.exec(key)?.[1])
  if (halves.length > keysMax || halves.includes(undefined)) {
    return err(`what follows ${name} is no key; "gslbd node add" makes one`)
  }
  const labels = labelsOf(rest)
  if (!labels.ok) return labels
  const keys = halves.map((half = '') => {
    const der = Buffer.concat([publicPrefix, Buffer.from(half, 'base64url')])
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  })
  return ok({ name, labels: labels.value, keys })
}

/** Parses words such as `site=fra1`. Errors: a sentence. */
export function labelsOf(words: readonly string[]): Result<Record<string, string>, string> {
  const labels = new Map<string, string>()
  for (const word of words) {
    const [key = '', value = ''] = word.split(/=(.*)/s)
    if (!labelKeyForm.test(key) || !labelValueForm.test(value))
      return err(`"${word.slice(0, 80)}" is no label; write one like site=fra1`)
    if (labels.has(key)) return err(`the label ${key} is there twice`)
    labels.set(key, value)
  }
  if (labels.size > reportLimits.labelsMax) return err(`at most ${reportLimits.labelsMax} labels`)
  return ok(Object.fromEntries(labels))
}

export const isNodeName = (name: string): boolean => nameForm.test(name)
