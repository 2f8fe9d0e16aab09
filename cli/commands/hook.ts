// `gslbd hook pre-receive`: run by git in the node's own repository before it takes a push.
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { readPushCheck } from '#node/push/install-hook.ts'
import { askNode } from '#node/push/ask-node.ts'
import { endWith, commandLine, Exit, UsageError, variable } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { attestationRefPrefix } from '#gitops/trust/attestation.ts'

const usage = `Usage: gslbd hook pre-receive

Git runs it in the repository of a node before it takes a push; the node installs it. It judges
the new head of the branch as the node would: signatures, history, errors, policy tests, guardrails,
and refuses what would be held, with the reason. Other branches are not looked at. When it cannot
judge, it lets the push pass: the node judges it all the same. Settings: gitops.checkPushes.

Exit codes: 0 the push may go on; 1 it is refused; 3 it is beyond a guardrail; 2 wrong call.`

export const hook: Command = {
  name: 'hook',
  usage,
  async run(args, io) {
    const { positionals } = commandLine(args, {})
    if (positionals.join(' ') !== 'pre-receive') throw new UsageError('the hook is pre-receive')
    const pushed = updatesIn(await text(process.stdin))
    try {
      return await preReceive(pushed, resolve(variable(io.env, 'GIT_DIR') ?? '.'), io)
    } catch (error) {
      return passUnjudged(io, (error as Error).message)
    }
  },
}

interface Update {
  readonly ref: string
  /** null: the ref is deleted. */
  readonly to: string | null
}

/** Parses lines of `OLD NEW REF`. */
function updatesIn(input: string): readonly Update[] {
  return input.split('\n').flatMap((line): Update[] => {
    const [, to, ref] = line.split(' ')
    if (to === undefined || ref === undefined) return []
    return [{ ref, to: /^0+$/.test(to) ? null : to }]
  })
}

async function preReceive(pushed: readonly Update[], gitdir: string, io: Io): Promise<Exit> {
  const check = readPushCheck(gitdir)
  if (!check.ok) return passUnjudged(io, check.error)
  const { branch } = check.value
  const update = pushed.find(({ ref }) => ref === `refs/heads/${branch}`)
  if (update === undefined) return Exit.Ok
  if (update.to === null) {
    const text = `gslbd: refused: the node answers from the branch "${branch}"; it stays.`
    return endWith(io, Exit.ErrorsFound, text)
  }
  const attestations = attestedBy(pushed)
  const incoming = variable(io.env, 'GIT_QUARANTINE_PATH') ?? null
  const push = { head: update.to, incoming, attestations }
  // Asked first: this process would have to read and compile every file.
  const verdict = await askNode(check.value.dataDir, push)
  const judgeHere = async () => (await import('#node/push/judge-in-hook.ts')).judgeHere
  const stop = verdict ?? (await (await judgeHere())(push, check.value, gitdir))
  if (typeof stop === 'string') return passUnjudged(io, stop)
  // The node may be able to read what this process cannot.
  if (stop.sync === 'unreachable') return passUnjudged(io, stop.reason)
  const lines = stop.diagnostics.map((diagnostic) => `${diagnostic.text}\n`)
  if (stop.sync !== 'held') {
    const note = stop.note === '' ? '' : `gslbd: ${stop.note}\n`
    io.err(`${lines.join('')}${note}gslbd: commit ${update.to.slice(0, 10)} will be accepted\n`)
    return Exit.Ok
  }
  const { code, reason } = stop
  io.err(`${lines.join('')}gslbd: refused, ${code}: ${reason} ${nothingPushed}\n`)
  const isGuarded = code === 'NamesRemoved' || code === 'GuardrailReached'
  return isGuarded ? Exit.Guardrail : Exit.ErrorsFound
}

/** Replaces advice that is meant for commits in the repository. */
const nothingPushed =
  'Nothing was pushed: these commits can still be changed (git commit --amend -S) and pushed again.'

function attestedBy(pushed: readonly Update[]): ReadonlyMap<string, string> {
  return new Map(
    pushed.flatMap(({ ref, to }): [string, string][] =>
      to !== null && ref.startsWith(attestationRefPrefix)
        ? [[ref.slice(attestationRefPrefix.length), to]]
        : [],
    ),
  )
}

function passUnjudged(io: Io, why: string): Exit {
  io.err(`gslbd: the push is not judged before the node sees it: ${why}\n`)
  return Exit.Ok
}
