// `gslbd comment`: posts the result of `gslbd review` to a forge: one comment, one status.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { commentMark, commentMax } from '#cli/review/comment-body.ts'
import type { Call, Change, Forge, Verdict } from '#cli/review/forge.ts'
import { plain } from '#cli/terminal/paint.ts'
import { textAt } from '#cli/watch/json-fields.ts'
import {
  commandLine,
  Exit,
  needed,
  onlyOne,
  UsageError,
  variable,
} from '#system/process/command.ts'
import type { Command, ValuesOf } from '#system/process/command.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { askJson } from '#integrations/http/json-client.ts'
import { github } from '#cli/review/github.ts'
import { gitlab } from '#cli/review/gitlab.ts'

const usage = `Usage: gslbd comment DIR --forge F --repo NAME --commit ID (--number N | --find HEAD)

Posts what "gslbd review --out DIR" wrote: one comment on the pull request, which the next time is
brought up to date, and a status of the commit. GSLBD_FORGE_TOKEN is the token of the service.

  --forge F       github or gitlab
  --repo NAME     OWNER/NAME; of GitLab, the id or path of the project
  --commit ID     the commit that was reviewed
  --number N      of the pull request
  --find HEAD     finds it by its head, OWNER:BRANCH (of GitLab: BRANCH), and by the commit
  --api URL       of the API (default: that of the public service)
  --details URL   where the status leads
  --no-status     the comment alone

DIR may come from the job of somebody else: what it says is taken as text, and bounded.

Exit codes: 0 posted, or there is no such pull request any more; 1 not posted; 2 wrong call.`

const options = {
  forge: { type: 'string' },
  repo: { type: 'string', default: '' },
  commit: { type: 'string', default: '' },
  number: { type: 'string' },
  find: { type: 'string' },
  api: { type: 'string' },
  details: { type: 'string', default: '' },
  'no-status': { type: 'boolean', default: false },
} as const
type Values = ValuesOf<typeof options>

export const comment: Command = {
  name: 'comment',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const folder = onlyOne(positionals, 'give one directory')
    const forge = forgeNamed(values.forge)
    const change = changeOf(values)
    const token = variable(io.env, 'GSLBD_FORGE_TOKEN')
    if (token === undefined) throw new UsageError('set GSLBD_FORGE_TOKEN')
    const { body, verdict } = needed(readReview(folder))
    const call = caller(forge, apiOf(values.api ?? forge.apiUrl), token)
    const number = await numberOf(values, forge, call, change)
    if (number === null) {
      io.out('no open pull request has this commit as its head\n')
      return Exit.Ok
    }
    needed(await forge.comment(call, change, number, body))
    if (!values['no-status']) needed(await forge.status(call, change, verdict))
    io.out(`posted on ${change.repository} ${number}: ${verdict.verdict}\n`)
    return Exit.Ok
  },
}

function forgeNamed(name: string | undefined): Forge {
  const forge = name !== undefined && Object.hasOwn(forges, name) ? forges[name] : undefined
  if (forge === undefined) throw new UsageError(`--forge is ${Object.keys(forges).join(' or ')}`)
  return forge
}

function changeOf({ repo, commit, number, find, details }: Values): Change {
  const isName = /^[\w.-]+(\/[\w.-]+)*$/.test(repo) && !repo.split('/').includes('..')
  if (!isName) throw new UsageError('--repo is a name such as OWNER/NAME')
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new UsageError('--commit is 40 hexadecimal digits')
  if ((number === undefined) === (find === undefined))
    throw new UsageError('give --number or --find')
  if (number !== undefined && !/^[1-9]\d{0,9}$/.test(number))
    throw new UsageError('--number is the number of a pull request')
  return { repository: repo, commit, detailsUrl: details }
}

function apiOf(url: string): string {
  if (!/^https?:\/\/[^@]+$/.test(url))
    throw new UsageError('--api is an address without a password')
  return url.replace(/\/+$/, '')
}

/** @returns null: no pull request has this commit as its head */
async function numberOf(
  { number, find = '' }: Values,
  forge: Forge,
  call: Call,
  change: Change,
): Promise<number | null> {
  return number === undefined ? needed(await forge.find(call, change, find)) : Number(number)
}

/** Errors: a clause. */
function readReview(folder: string): Result<{ body: string; verdict: Verdict }, string> {
  try {
    const [text, json] = ['comment.md', 'verdict.json'].map((name) => {
      const path = join(folder, name)
      if (statSync(path).size > 4 * commentMax) throw new Error(`${path} is too large`)
      return readFileSync(path, 'utf8')
    })
    const value = JSON.parse(json ?? '') as unknown
    const state = textAt(value, 'state') === 'success' ? 'success' : 'failure'
    const body = (text ?? '').slice(0, commentMax)
    const marked = body.startsWith(commentMark) ? body : `${commentMark}\n\n${body}`
    return ok({ body: marked, verdict: { state, verdict: textAt(value, 'verdict') } })
  } catch (error) {
    return err(`the review cannot be read: ${(error as Error).message}`)
  }
}

/** Forges that take the comment and the status of a review. */
const forges: Readonly<Record<string, Forge>> = Object.freeze({ github, gitlab })

const patienceMs = 20_000
const bytesMax = 8 * 1024 * 1024

function caller(forge: Forge, apiUrl: string, token: string): Call {
  const { signal } = new AbortController()
  // It knows the proxy of a runner, where Node is told to use one.
  const protocol = apiUrl.startsWith('https:') ? 'node:https' : 'node:http'
  const agent = process.getBuiltinModule(protocol).globalAgent
  const shared = { headers: forge.headers(token), bytesMax, signal, agent }
  return async (method, path, body) => {
    const answer = await askJson({ ...shared, url: apiUrl + path, method, body }, patienceMs)
    return answer.ok ? ok(answer.value.json) : err(plain(answer.error))
  }
}
