// A stand-in for a helper thread that gives a fixed answer at once.
import { parentPort, workerData } from 'node:worker_threads'
import { MailCell, Mailbox } from '#answer/script-mailbox.ts'

export interface EchoWork {
  readonly mailbox: SharedArrayBuffer
  readonly outcome: number
  readonly named: number
  readonly order: readonly number[]
}

const { mailbox, outcome, named, order } = workerData as EchoWork
const mail = new Mailbox(mailbox)
mail.order.set(order)
Atomics.store(mail.cells, MailCell.HasHelper, 1)
parentPort?.postMessage('ready')
for (let last = 0; ; last = Atomics.load(mail.cells, MailCell.Asked)) {
  mail.cells[MailCell.Outcome] = outcome
  mail.cells[MailCell.Named] = named
  Atomics.store(mail.cells, MailCell.Answered, last)
  Atomics.notify(mail.cells, MailCell.Answered)
  Atomics.wait(mail.cells, MailCell.Asked, last)
}
