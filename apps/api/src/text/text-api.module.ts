import { AccessModule } from '#features';
import { type DynamicModule, Module } from '@nestjs/common';
import { GeminiController } from './gemini.controller.js';
import { MessagesController } from './messages.controller.js';
import { ResponsesController } from './responses.controller.js';
import { TextAnswers } from './text-answers.js';

/** The three text endpoints. */
@Module({
  imports: [AccessModule],
  controllers: [ResponsesController, MessagesController, GeminiController],
  providers: [TextAnswers],
})
export class TextApiModule {
  /** @param text the module that answers. */
  static with(text: DynamicModule): DynamicModule {
    return { module: TextApiModule, imports: [text] };
  }
}
