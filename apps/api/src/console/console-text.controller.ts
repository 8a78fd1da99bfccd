import { Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { SerializedBody } from '../http/serialized-body.js';
import { ChatController } from '../routes/text/chat.controller.js';
import { MessagesController } from '../routes/text/messages.controller.js';
import { ResponsesController } from '../routes/text/responses.controller.js';
import { callerOf } from '../http/api-key.guard.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { Reply } from '../http/route.js';

/** The version of the messages style that the pages speak. */
const MESSAGES_VERSION = '2023-06-01';

/** Text requests of the playground: the handlers of the public interface, for signed-in users. */
@ConsoleRoutes()
export class ConsoleTextController {
  constructor(
    private readonly chat: ChatController,
    private readonly messages: MessagesController,
    private readonly responses: ResponsesController,
  ) {}

  @PageRoute('POST /text/responses', { cost: 'text', body: 'conversation' })
  createResponse(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    return this.responses.create(request, response, callerOf(request));
  }

  @PageRoute('POST /text/chat/completions', { cost: 'text', body: 'conversation' })
  createChatCompletion(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    return this.chat.create(request, response);
  }

  @PageRoute('POST /text/messages', { cost: 'text', body: 'conversation' })
  createMessage(@Req() request: Request, @Reply() response: Response): Promise<SerializedBody | undefined> {
    request.headers['anthropic-version'] ??= MESSAGES_VERSION;
    return this.messages.create(request, response);
  }
}
